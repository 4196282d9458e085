//! Lowers `scf.while` loops.

use tilewright_kernel::{MemorySpace, Type, Value};
use tilewright_tile::Op;

use super::super::error::{LowerError, LowerErrorReason, Lowered};
use super::super::lowering::Lowering;
use super::super::scalar::scalar_constant;

/// Lowers `scf.while` to a kernel loop, which executes its body and then tests its condition. Each iteration executes
/// the first region of the operation, and the second region if the condition is true. The loop carries the values of
/// both regions, those of the second region first.
pub(in super::super) fn repeated(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let &[before, after] = &operation.regions[..] else {
        return Err(at(LowerErrorReason::malformed("it needs two regions")));
    };
    let before = lowering.only_block(before).map_err(at)?;
    let after = lowering.only_block(after).map_err(at)?;
    let arguments = body.arguments(before).to_vec();
    let initial = lowering.flat(&operation.operands, &arguments).map_err(at)?;
    let likes = lowering.likes(&operation.operands).map_err(at)?;
    let passed = lowering.flat_types(&operation.results).map_err(at)?;
    // The values that the first region passes to the second are undefined before the first iteration.
    let nothing =
        passed.iter().map(|&ty| placeholder(lowering, ty, &initial)).collect::<Lowered<Vec<Value>>>().map_err(at)?;
    let carried = [initial.clone(), nothing].concat();
    let types: Vec<Type> = carried.iter().map(|&value| lowering.builder.type_of(value)).collect();
    let inside = lowering.builder.begin_region(&types);
    lowering.set_flattened(&mut inside.iter().copied(), &arguments, &likes, None, true).map_err(at)?;
    let end =
        lowering.block(before)?.ok_or_else(|| at(LowerErrorReason::malformed("its first region has no condition")))?;
    let end_at = |reason: LowerErrorReason| reason.at(body, end);
    let condition = lowering.operand(end, 0).and_then(|value| lowering.scalar(value)).map_err(end_at)?;
    let given = body.op(end).operand_group(1).to_vec();
    let passed_on = lowering.flat(&given, &operation.results).map_err(end_at)?;
    lowering.builder.begin_region(&[]);
    let inner = body.arguments(after).to_vec();
    lowering.set_flattened(&mut passed_on.iter().copied(), &inner, &[], None, true).map_err(at)?;
    let end = lowering.block(after)?;
    let next = end.map_or_else(Vec::new, |end| body.op(end).operands.to_vec());
    let next = lowering.flat(&next, &arguments).map_err(at)?;
    let then = lowering.builder.end_region(&next);
    lowering.builder.begin_region(&[]);
    let otherwise = lowering.builder.end_region(&inside[..initial.len()]);
    let next = lowering.builder.if_else(condition, then, otherwise, &types[..initial.len()]);
    let region = lowering.builder.end_region(&[vec![condition], next, passed_on].concat());
    let values = lowering.builder.while_loop(&carried, region);
    lowering.set_flattened(&mut values.into_iter().skip(initial.len()), &operation.results, &[], None, true).map_err(at)
}

/// Returns a value of the type `ty` that is never read: zero or, for an address in shared memory, one of the addresses
/// in `carried`.
fn placeholder(lowering: &mut Lowering<'_>, ty: Type, carried: &[Value]) -> Lowered<Value> {
    if ty != Type::Pointer(MemorySpace::Shared) {
        return Ok(scalar_constant(&mut lowering.builder, ty, 0));
    }
    let found = carried.iter().copied().find(|&value| lowering.builder.type_of(value) == ty);
    found.ok_or_else(|| {
        LowerErrorReason::unsupported("memory that a loop's condition passes on, and that the loop does not carry")
    })
}
