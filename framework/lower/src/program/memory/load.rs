//! Lowers `tt.load`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tilewright_kernel::{Binary, Builder, Cast, Element, Op as KernelOp, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::op::name::arith;
use tilewright_tile::{self as tile, Op};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::super::types::stored;
use super::addresses::ElementAddress;
use super::{VectorGroups, both, to_memory};

/// Lowers `tt.load` through a pointer or a tensor of pointers. Masked elements get the value `other`, or zero.
pub(in super::super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let pointer = lowering.operand(op, 0)?;
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    let result = lowering.result(op, 0)?;
    let ty = lowering.carrier(result)?;
    if lowering.body.value_type(result).as_tensor().is_none() {
        let address = lowering.scalar(pointer)?;
        let mask = mask.map(|mask| lowering.scalar(mask)).transpose()?;
        let predicate = both(&mut lowering.builder, lowering.guard, mask);
        let other = other.map(|other| lowering.scalar(other)).transpose()?;
        let builder = &mut lowering.builder;
        let other = other.map(|other| to_memory(builder, other));
        let (element, alignment) = (stored(ty), stored(ty).bits().div_ceil(8));
        let load = KernelOp::Load { pointer: address, predicate, offset: 0, alignment, other };
        let loaded = builder.value(element, load);
        let value = from_memory(builder, loaded, ty);
        lowering.set_assumed_uniform(result, value);
        return Ok(());
    }
    let layout = lowering.result_layout(op)?;
    let tensor = loaded(lowering, op, pointer, (layout, ty))?;
    lowering.set_result(op, LoweredValue::Tensor(tensor))
}

/// A load instruction of consecutive elements; registers that need an equal load share it.
#[derive(PartialEq)]
struct RequestedLoad {
    address: ElementAddress,
    predicate: Option<Value>,
    /// The elements that the load returns if its predicate is false; empty if it then returns zeros.
    others: Vec<Value>,
}

/// Loads through a tensor of pointers, with the operation's `mask` and `other`, to registers of a layout.
pub(in super::super) fn loaded(
    lowering: &mut Lowering<'_>,
    op: Op,
    pointer: tile::Value,
    (layout, ty): (Arc<LinearLayout>, Type),
) -> Lowered<Registers> {
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    let addresses = lowering.addresses_in(pointer, &layout)?;
    let predicates = mask.map(|mask| guarded(lowering, mask, &layout)).transpose()?;
    let others = other.map(|other| lowering.registers_in(other, &layout)).transpose()?;
    let element = stored(ty);
    let masks: Vec<_> = mask.into_iter().collect();
    let sufficient = lowering.config.context.target.global.sufficient_alignment();
    let widths = lowering.global_access_bits();
    let groups = VectorGroups::of((lowering.axis_info, pointer, &masks), &layout, element, widths, sufficient);
    let mut values = vec![None; addresses.len()];
    let mut known: Vec<(RequestedLoad, Value)> = Vec::new();
    for group in groups.iter() {
        let first = group[0];
        let predicate = predicates.as_ref().map(|all| all[first]);
        let vector = VectorGroups::vector(element, group.len());
        let others: Vec<Value> =
            others.iter().filter(|_| predicate.is_some()).flat_map(|all| group.iter().map(|&at| all[at])).collect();
        let request = RequestedLoad { address: addresses[first], predicate, others };
        let found = known.iter().find(|(requested, _)| *requested == request).map(|(_, loaded)| *loaded);
        let loaded = found.unwrap_or_else(|| {
            let builder = &mut lowering.builder;
            let own: Vec<Value> = request.others.iter().map(|&other| to_memory(builder, other)).collect();
            let other = (!own.is_empty()).then(|| builder.pack(&own));
            let ElementAddress { pointer, offset } = request.address;
            let alignment = groups.alignment(vector);
            let loaded = builder.value(vector, KernelOp::Load { pointer, predicate, offset, alignment, other });
            known.push((request, loaded));
            loaded
        });
        for (index, register) in (0u32..).zip(group) {
            let builder = &mut lowering.builder;
            let extracted = builder.extract(loaded, index);
            values[register] = Some(from_memory(builder, extracted, ty));
        }
    }
    let values: Option<Vec<Value>> = values.into_iter().collect();
    let values = values.ok_or_else(|| LowerErrorReason::malformed("a register is in no access"))?;
    Ok(Registers::new(layout, values))
}

/// Returns the registers of a mask, each combined with [`Lowering::guard`], the condition under which loads are
/// lowered. If the mask is itself a conjunction, the condition is first combined with the side that has fewer different
/// registers, which emits fewer operations.
fn guarded(lowering: &mut Lowering<'_>, mask: tile::Value, layout: &Arc<LinearLayout>) -> Lowered<Vec<Value>> {
    let registers = lowering.registers_in(mask, layout)?.to_vec();
    let Some(guard) = lowering.guard else { return Ok(registers) };
    let mut sides = vec![registers];
    if let tile::ValueOrigin::Result(op, _) = lowering.body.value_origin(mask)
        && lowering.body.op(op).name() == arith::ANDI
        && lowering.layout_of(mask)? == *layout
    {
        let operands = lowering.body.op(op).operands.iter();
        sides = operands.map(|&side| Ok(lowering.registers_in(side, layout)?.to_vec())).collect::<Lowered<_>>()?;
    }
    sides.sort_by_key(|side| side.iter().collect::<HashSet<_>>().len());
    let mut known = HashMap::new();
    let mut all = vec![guard; 1 << layout.in_bits(Dim::REGISTER)];
    for side in sides {
        for (conjunction, own) in all.iter_mut().zip(side) {
            let both = known.entry((*conjunction, own));
            *conjunction = *both.or_insert_with(|| lowering.builder.binary(Binary::And, *conjunction, own));
        }
    }
    Ok(all)
}

/// Converts an element from its type in memory to the type that carries it in registers.
pub(in super::super) fn from_memory(builder: &mut Builder, value: Value, ty: Type) -> Value {
    match ty {
        Type::Scalar(Element::I1) => {
            let zero = builder.constant(Type::Scalar(Element::I8), 0);
            builder.compare(tilewright_kernel::Compare::Ne, value, zero)
        }
        Type::Pointer(_) => builder.cast(Cast::Bits, value, ty),
        _ => value,
    }
}
