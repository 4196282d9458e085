//! Lowers `scf.for` loops.

use tilewright_kernel::{Binary, Cast, Compare, Element, Type, Value};
use tilewright_tile::Op;

use super::super::error::{LowerError, LowerErrorReason, Lowered};
use super::super::lowering::Lowering;

/// The loop of the kernel IR for an `scf.for`. Its indices are unsigned.
struct Count {
    /// Start, end and step of the kernel's loop, as `i32`s.
    range: [Value; 3],
    /// The index of the `scf.for` is the index of the kernel's loop times `scale` plus `offset`; `None` means a scale
    /// of one and an offset of zero.
    scale: Option<Value>,
    offset: Option<Value>,
}

/// Lowers `scf.for`, with bounds of any width and signedness, to a loop over unsigned indices.
pub(in super::super) fn counted(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let bounds =
        (0..3).map(|operand_index| lowering.scalar(lowering.operand(op, operand_index)?)).collect::<Lowered<Vec<_>>>();
    let bounds = bounds.map_err(at)?;
    let [from, to, step] = [bounds[0], bounds[1], bounds[2]];
    let unsigned = lowering.attribute(op, "unsignedCmp").is_some();
    let count = match body.constant_integer(operation.operands[2]) {
        None if lowering.builder.type_of(from).bits() <= 32 => {
            let start = lowering.axis_info.get(operation.operands[0]);
            let is_natural = !unsigned && start.is_some_and(|start| start.range.is_non_negative());
            by_indices(lowering, [from, to, step], unsigned, is_natural)
        }
        _ => by_iterations(lowering, [from, to, step], unsigned),
    };
    let ping_pong = lowering.find_ping_pong(op);
    ping_pong.into_iter().for_each(|ping_pong| lowering.begin_ping_pong(ping_pong));
    let initial = operation.operand_group(3).to_vec();
    let region = operation.regions.first().copied().ok_or_else(|| at(LowerErrorReason::malformed("it has no body")))?;
    let block = lowering.only_block(region).map_err(at)?;
    let arguments = body.arguments(block).to_vec();
    let ends = body.ops(block).last().map_or(&[][..], |end| &body.op(*end).operands);
    lowering.find_pointer_bases(&arguments[1..], &initial, ends).map_err(at)?;
    let mut carried = lowering.flat_carried(&initial, &arguments[1..]).map_err(at)?;
    // The last value that the loop carries is the number of the next group of MMAs, if its body contains such groups.
    let mma_group = lowering.carried_mma_group(op);
    carried.extend(mma_group);
    let likes = lowering.likes(&initial).map_err(at)?;
    let types: Vec<Type> = carried.iter().map(|&value| lowering.builder.type_of(value)).collect();
    let inside = lowering.builder.begin_region(&[&[Type::Scalar(Element::I32)], types.as_slice()].concat());
    lowering.set_next_mma_group(mma_group.and(inside.last().copied()));
    let index = index(lowering, inside[0], &count, lowering.builder.type_of(from));
    lowering.set_uniform(arguments[0], index);
    let own = Some(&arguments[1..]);
    lowering.set_flattened(&mut inside[1..].iter().copied(), &arguments[1..], &likes, own, true).map_err(at)?;
    let end = lowering.block(block)?;
    let given = end.map_or_else(Vec::new, |end| body.op(end).operands.to_vec());
    let mut given = lowering.flat_carried(&given, &arguments[1..]).map_err(at)?;
    given.extend(mma_group.and(lowering.next_mma_group()));
    let inner = lowering.builder.end_region(&given);
    let [start, end, by] = count.range;
    let values = lowering.builder.for_loop(start, end, by, &carried, inner);
    ping_pong.into_iter().for_each(|ping_pong| lowering.end_ping_pong(ping_pong));
    lowering.set_next_mma_group(mma_group.and(values.last().copied()));
    lowering.set_flattened(&mut values.into_iter(), &operation.results, &likes, own, true).map_err(at)
}

/// Emits the range of a loop whose index is the number of the iteration. The number of iterations is a division by the
/// step, which costs little if the step is a constant. More than 2^32 iterations are not supported.
fn by_iterations(lowering: &mut Lowering<'_>, [from, to, step]: [Value; 3], unsigned: bool) -> Count {
    let builder = &mut lowering.builder;
    let ty = builder.type_of(from);
    let span = builder.binary(Binary::Sub, to, from);
    let one = builder.constant(ty, 1);
    // The difference of the bounds is not negative but may need all bits of the type, so the division is unsigned.
    let quotient = builder.binary(Binary::DivU, span, step);
    let covered = builder.binary(Binary::Mul, quotient, step);
    let rest = builder.binary(Binary::Sub, span, covered);
    let zero = builder.constant(ty, 0);
    let has_rest = builder.compare(Compare::Ne, rest, zero);
    let more = builder.binary(Binary::Add, quotient, one);
    let iterations = builder.select(has_rest, more, quotient);
    let begins = builder.compare(if unsigned { Compare::LtU } else { Compare::LtS }, from, to);
    let iterations = builder.select(begins, iterations, zero);
    let cast = if ty.bits() < 32 { Cast::ExtendU } else { Cast::Truncate };
    let iterations = builder.cast(cast, iterations, Type::Scalar(Element::I32));
    Count { range: [builder.i32(0), iterations, builder.i32(1)], scale: Some(step), offset: Some(from) }
}

/// Emits the range of a loop whose index is the distance from the first index. If `is_natural`, the index is not
/// shifted, because the first index is not negative.
fn by_indices(lowering: &mut Lowering<'_>, [from, to, step]: [Value; 3], unsigned: bool, is_natural: bool) -> Count {
    let builder = &mut lowering.builder;
    let ty = builder.type_of(from);
    let zero = builder.constant(ty, 0);
    let (start, least, end) = match is_natural {
        true => (from, zero, to),
        false => (zero, from, builder.binary(Binary::Sub, to, from)),
    };
    let begins = builder.compare(if unsigned { Compare::LtU } else { Compare::LtS }, least, to);
    let end = builder.select(begins, end, zero);
    let range = [start, end, step].map(|bound| builder.cast(Cast::ExtendU, bound, Type::Scalar(Element::I32)));
    Count { range, scale: None, offset: (!is_natural).then_some(from) }
}

/// Emits the induction variable of type `ty`, given the index of the kernel's loop.
fn index(lowering: &mut Lowering<'_>, index: Value, count: &Count, ty: Type) -> Value {
    let builder = &mut lowering.builder;
    let cast = if ty.bits() < 32 { Cast::Truncate } else { Cast::ExtendU };
    let index = builder.cast(cast, index, ty);
    let index = count.scale.map_or(index, |scale| builder.binary(Binary::Mul, index, scale));
    count.offset.map_or(index, |offset| builder.binary(Binary::Add, offset, index))
}
