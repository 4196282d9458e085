//! Lowers constants.

use tilewright_kernel::{Builder, Cast, Compare, Type, Value};
use tilewright_layout::Dim;
use tilewright_tile::op::name::ub;
use tilewright_tile::{self as tile, Attribute, Op};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::LoweredValue;
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::{row_major_index, unpack_coordinates};
use super::super::types::stored;

/// Max number of elements of a constant tensor whose elements are not all equal. A chain of selects chooses among them,
/// with one operation for each element; a constant with more elements is rejected.
const MOST_ELEMENTS: usize = 64;

/// Lowers `arith.constant`, a number or a tensor; and `ub.poison`.
pub(in super::super) fn constant(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    if matches!(lowering.body.value_type(result), tile::TileType::Token) {
        return lowering.set_result(op, LoweredValue::Token);
    }
    let ty = lowering.body.value_type(result).clone();
    if ty.as_memory().is_some() {
        return Err(LowerErrorReason::unsupported("a constant in shared memory"));
    }
    let carrier = lowering.carrier(result)?;
    if lowering.body.op(op).name() == ub::POISON {
        return unspecified(lowering, op, carrier);
    }
    let elements: Vec<u64> = match lowering.attribute(op, "value") {
        Some(Attribute::Number(number)) => vec![number.bits],
        Some(Attribute::Bool(value)) => vec![u64::from(*value)],
        Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
        _ => return Err(LowerErrorReason::unsupported("a constant of this kind has no lowering")),
    };
    let numbers: Vec<Value> = match &elements[..] {
        [bits] => vec![scalar_constant(&mut lowering.builder, carrier, *bits)],
        many if many.len() <= MOST_ELEMENTS => {
            many.iter().map(|&bits| scalar_constant(&mut lowering.builder, carrier, bits)).collect()
        }
        many => {
            let message = format!("a constant of {} different elements; expected at most {MOST_ELEMENTS}", many.len());
            return Err(LowerErrorReason::unsupported(message));
        }
    };
    let Some(shape) = ty.as_tensor().map(|tensor| tensor.shape.clone()) else {
        lowering.set_uniform(result, numbers[0]);
        return Ok(());
    };
    lowering.propagate_uniform(&[], &numbers);
    let layout = lowering.layout_of(result)?;
    if let [single] = numbers[..] {
        let values = vec![single; 1 << layout.in_bits(Dim::REGISTER)];
        return lowering.give_tensor(op, layout, values);
    }
    let indices = lowering.numbers(&layout, |column| row_major_index(&shape, &unpack_coordinates(&layout, column)));
    let mut values = Vec::with_capacity(indices.len());
    for index in indices {
        values.push(chosen(&mut lowering.builder, index, &numbers));
    }
    lowering.give_tensor(op, layout, values)
}

/// Lowers `ub.poison`, a number or a tensor, whose elements `carrier` carries in registers.
fn unspecified(lowering: &mut Lowering<'_>, op: Op, carrier: Type) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    let value = match carrier {
        Type::Pointer(_) => {
            let address = lowering.builder.unspecified(stored(carrier));
            lowering.builder.cast(Cast::Bits, address, carrier)
        }
        _ => lowering.builder.unspecified(carrier),
    };
    if lowering.body.value_type(result).as_tensor().is_none() {
        lowering.set_uniform(result, value);
        return Ok(());
    }
    lowering.propagate_uniform(&[], &[value]);
    let layout = lowering.layout_of(result)?;
    let values = vec![value; 1 << layout.in_bits(Dim::REGISTER)];
    lowering.give_tensor(op, layout, values)
}

/// Emits a chain of selects that returns the entry of `values` with the index `index`, a kernel value.
fn chosen(builder: &mut Builder, index: Value, values: &[Value]) -> Value {
    let mut found = values[0];
    for (number, &value) in (0u32..).zip(values).skip(1) {
        let own = builder.i32(number);
        let here = builder.compare(Compare::Eq, index, own);
        found = builder.select(here, value, found);
    }
    found
}

/// Emits a constant of the kernel type that carries elements in registers; `bits` is the element's encoding.
pub(in super::super) fn scalar_constant(builder: &mut Builder, ty: Type, bits: u64) -> Value {
    match ty {
        Type::Pointer(_) => {
            let address = builder.constant(stored(ty), bits);
            builder.cast(Cast::Bits, address, ty)
        }
        _ => builder.constant(ty, bits),
    }
}
