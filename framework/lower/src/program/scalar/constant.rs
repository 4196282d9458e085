//! Constants.

use tilewright_kernel::{Builder, Cast, Compare, Type, Value};
use tilewright_tile::op::name::ub;
use tilewright_tile::{self as tile, Attribute, Op};

use super::super::error::{Lowered, Reason};
use super::super::lowered::LoweredValue;
use super::super::lowering::Lowering;
use super::super::places::{coordinates, row_major};
use super::super::types::stored;

/// Tensors whose elements differ are made by choosing between them, which takes an operation each.
const MOST_ELEMENTS: usize = 64;

/// A number, or a tensor; of poison, zeros.
pub(in super::super) fn constant(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    if matches!(lowering.body.ty(result), tile::TileType::Token) {
        return lowering.give(op, LoweredValue::Token);
    }
    let ty = lowering.body.ty(result).clone();
    if ty.as_memory().is_some() {
        return Err(Reason::unsupported("nothing made this memory"));
    }
    let carrier = lowering.carrier(result)?;
    let elements: Vec<u64> = match lowering.attribute(op, "value") {
        _ if lowering.body.op(op).name() == ub::POISON => vec![0],
        Some(Attribute::Number(number)) => vec![number.bits],
        Some(Attribute::Bool(value)) => vec![u64::from(*value)],
        Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
        _ => return Err(Reason::unsupported("a constant of this kind has no lowering")),
    };
    let numbers: Vec<Value> = match &elements[..] {
        [bits] => vec![number(&mut lowering.builder, carrier, *bits)],
        many if many.len() <= MOST_ELEMENTS => {
            many.iter().map(|&bits| number(&mut lowering.builder, carrier, bits)).collect()
        }
        many => {
            let message =
                format!("a constant of {} different elements; at most {MOST_ELEMENTS} are chosen from", many.len());
            return Err(Reason::unsupported(message));
        }
    };
    let Some(shape) = ty.as_tensor().map(|tensor| tensor.shape.clone()) else {
        lowering.hold_uniform(result, numbers[0]);
        return Ok(());
    };
    lowering.computed(&[], &numbers);
    let layout = lowering.layout_of(result)?;
    if let [single] = numbers[..] {
        let values = vec![single; 1 << layout.in_bits(tilewright_layout::Dim::REGISTER)];
        return lowering.give_tensor(op, layout, values);
    }
    let places = lowering.numbers(&layout, |column| row_major(&shape, &coordinates(&layout, column)));
    let mut values = Vec::with_capacity(places.len());
    for place in places {
        values.push(chosen(&mut lowering.builder, place, &numbers));
    }
    lowering.give_tensor(op, layout, values)
}

/// The value whose number is in `place`.
fn chosen(builder: &mut Builder, place: Value, values: &[Value]) -> Value {
    let mut found = values[0];
    for (number, &value) in (0u32..).zip(values).skip(1) {
        let own = builder.i32(number);
        let here = builder.compare(Compare::Eq, place, own);
        found = builder.select(here, value, found);
    }
    found
}

/// A constant of a type that carries elements.
pub(in super::super) fn number(builder: &mut Builder, ty: Type, bits: u64) -> Value {
    match ty {
        Type::Pointer(_) => {
            let address = builder.constant(stored(ty), bits);
            builder.cast(Cast::Bits, address, ty)
        }
        _ => builder.constant(ty, bits),
    }
}
