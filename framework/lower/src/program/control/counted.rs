//! Loops that count.

use tilewright_kernel::{Binary, Cast, Compare, Element, Type, Value};
use tilewright_tile::Op;

use super::super::error::{LowerError, Lowered, Reason};
use super::super::lowering::Lowering;

/// `scf.for`: the loop of the kernel IR counts turns, so that bounds with a sign and of any width are the same to it.
pub(in super::super) fn counted(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: Reason| reason.at(body, op);
    let operation = body.op(op);
    let bounds = (0..3).map(|number| lowering.scalar(lowering.operand(op, number)?)).collect::<Lowered<Vec<_>>>();
    let bounds = bounds.map_err(at)?;
    let [from, to, step] = [bounds[0], bounds[1], bounds[2]];
    let unsigned = lowering.attribute(op, "unsignedCmp").is_some();
    let iterations = iterations(lowering, [from, to, step], unsigned);
    let initial = operation.operand_group(3).to_vec();
    let region = operation.regions.first().copied().ok_or_else(|| at(Reason::malformed("it has no body")))?;
    let block = lowering.only_block(region).map_err(at)?;
    let arguments = body.arguments(block).to_vec();
    let carried = lowering.flat(&initial, &arguments[1..]).map_err(at)?;
    let likes = lowering.likes(&initial).map_err(at)?;
    let types: Vec<Type> = carried.iter().map(|&value| lowering.builder.type_of(value)).collect();
    let inside = lowering.builder.begin_region(&[&[Type::Scalar(Element::I32)], types.as_slice()].concat());
    let index = index(lowering, inside[0], from, step);
    lowering.hold_uniform(arguments[0], index);
    lowering.hold_flat(&mut inside[1..].iter().copied(), &arguments[1..], &likes, true).map_err(at)?;
    let end = lowering.block(block)?;
    let given = end.map_or_else(Vec::new, |end| body.op(end).operands.to_vec());
    let given = lowering.flat(&given, &arguments[1..]).map_err(at)?;
    let inner = lowering.builder.end_region(&given);
    let (zero, one) = (lowering.builder.i32(0), lowering.builder.i32(1));
    let values = lowering.builder.for_loop(zero, iterations, one, &carried, inner);
    lowering.hold_flat(&mut values.into_iter(), &operation.results, &likes, true).map_err(at)
}

/// How often the loop turns, as `i32`: none where it does not begin. More than 2^32 turns are not counted.
fn iterations(lowering: &mut Lowering<'_>, [from, to, step]: [Value; 3], unsigned: bool) -> Value {
    let builder = &mut lowering.builder;
    let ty = builder.type_of(from);
    let span = builder.binary(Binary::Sub, to, from);
    let one = builder.constant(ty, 1);
    // The span is no negative number, and may be as wide as the type.
    let whole = builder.binary(Binary::DivU, span, step);
    let covered = builder.binary(Binary::Mul, whole, step);
    let rest = builder.binary(Binary::Sub, span, covered);
    let zero = builder.constant(ty, 0);
    let has_rest = builder.compare(Compare::Ne, rest, zero);
    let more = builder.binary(Binary::Add, whole, one);
    let iterations = builder.select(has_rest, more, whole);
    let begins = builder.compare(if unsigned { Compare::LtU } else { Compare::LtS }, from, to);
    let iterations = builder.select(begins, iterations, zero);
    let cast = if ty.bits() < 32 { Cast::ExtendU } else { Cast::Truncate };
    builder.cast(cast, iterations, Type::Scalar(Element::I32))
}

/// The index of a turn.
fn index(lowering: &mut Lowering<'_>, iteration: Value, from: Value, step: Value) -> Value {
    let builder = &mut lowering.builder;
    let ty = builder.type_of(from);
    let cast = if ty.bits() < 32 { Cast::Truncate } else { Cast::ExtendU };
    let iteration = builder.cast(cast, iteration, ty);
    let moved = builder.binary(Binary::Mul, iteration, step);
    builder.binary(Binary::Add, from, moved)
}
