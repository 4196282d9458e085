//! Lowers updates of tensor descriptors (Triton AMD): another start, other sizes, or a predicate for the descriptor's
//! copies.

use tilewright_kernel::{Binary, Cast, Compare, Element, Type, Value};
use tilewright_tile::Op;

use super::descriptor::{divisor, scalars, tensor_descriptor};
use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, TensorDescriptor};
use super::lowering::Lowering;
use super::types::{carrier, stored};

const WIDE: Type = Type::Scalar(Element::I64);

/// Lowers `tw.update_tensor_descriptor`: the new descriptor's tensor begins `offsets` elements further along each axis.
/// Its sizes are `bounds` if given; otherwise the old sizes, less the offsets with `clamp_bounds`. If the operand
/// `pred` is given and zero, copies through the new descriptor copy nothing.
pub(super) fn moved(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let (offsets, bounds) = (scalars(lowering, op, "offsets")?, scalars(lowering, op, "bounds")?);
    for given in [&offsets, &bounds] {
        if !given.is_empty() && given.len() != of.sizes.len() {
            let message = format!("{} numbers for a descriptor of {} axes", given.len(), of.sizes.len());
            return Err(LowerErrorReason::malformed(message));
        }
    }
    let pointer = begins_at(lowering, op, &of, &offsets)?;
    let sizes = if !bounds.is_empty() {
        bounds.into()
    } else if lowering.attribute(op, "clamp_bounds").is_some() {
        of.sizes.iter().zip(&offsets).map(|(&size, &offset)| left(lowering, size, offset)).collect()
    } else {
        of.sizes.clone()
    };
    let active = match scalars(lowering, op, "pred")?.first() {
        Some(&active) => {
            let zero = lowering.builder.i32(0);
            lowering.builder.compare(Compare::Ne, active, zero)
        }
        None => of.active,
    };
    let operation = lowering.body.op(op);
    let last = |group: usize| operation.operand_group(group).last().map(|&value| divisor(lowering, value));
    let last_multiple = [last(1), last(2)].into_iter().flatten().fold(of.last_multiple, u64::min);
    lowering.set_result(op, LoweredValue::Descriptor(TensorDescriptor { pointer, sizes, active, last_multiple, ..of }))
}

/// Emits the start address of the updated tensor: the address of the old tensor's element at `offsets`, one offset for
/// each axis.
fn begins_at(lowering: &mut Lowering<'_>, op: Op, of: &TensorDescriptor, offsets: &[Value]) -> Lowered<Value> {
    let element = lowering.body.value_type(lowering.result(op, 0)?).element().clone();
    let bytes = u64::from(stored(carrier(&element)?).bits() / 8);
    let builder = &mut lowering.builder;
    let bytes = builder.constant(WIDE, bytes);
    let mut pointer = of.pointer;
    for (&offset, &stride) in offsets.iter().zip(&of.strides) {
        let offset = builder.cast(Cast::ExtendS, offset, WIDE);
        let step = builder.binary(Binary::Mul, offset, stride);
        let step = builder.binary(Binary::Mul, step, bytes);
        pointer = builder.ptr_add(pointer, step);
    }
    Ok(pointer)
}

/// Emits `size - offset`, or zero if that is negative.
fn left(lowering: &mut Lowering<'_>, size: Value, offset: Value) -> Value {
    let builder = &mut lowering.builder;
    let rest = builder.binary(Binary::Sub, size, offset);
    let zero = builder.i32(0);
    let is_beyond = builder.compare(Compare::LtS, rest, zero);
    builder.select(is_beyond, zero, rest)
}

/// Lowers `tw.descriptor_pred`: the result is the predicate of the copies through a descriptor.
pub(super) fn active(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    lowering.set_result(op, LoweredValue::Scalar(of.active))
}
