//! Lowers branches: `scf.if`, `scf.index_switch` and `scf.execute_region`.

use tilewright_kernel::{Compare, Region, Value};
use tilewright_tile::{self as tile, Attribute, Op};

use super::super::error::{LowerError, LowerErrorReason};
use super::super::lowering::Lowering;
use super::guarded_loads::guarded_loads;
use super::yielded::yielded;

/// Lowers `scf.if`.
pub(in super::super) fn chosen(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let condition = lowering.operand(op, 0).and_then(|value| lowering.scalar(value)).map_err(at)?;
    if let Some(values) = guarded_loads(lowering, op, condition)? {
        return lowering.set_flattened(&mut values.into_iter(), &operation.results, &[], None, true).map_err(at);
    }
    let regions: Vec<tile::Region> = operation.regions.to_vec();
    let then = lower_branch(lowering, op, regions.first().copied())?;
    let otherwise = lower_branch(lowering, op, regions.get(1).copied())?;
    let types = lowering.flat_types(&operation.results).map_err(at)?;
    let values = lowering.builder.if_else(condition, then, otherwise, &types);
    lowering.set_flattened(&mut values.into_iter(), &operation.results, &[], None, true).map_err(at)
}

/// Lowers `scf.index_switch` to a chain of conditionals.
pub(in super::super) fn switched(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let number = lowering.operand(op, 0).and_then(|value| lowering.scalar(value)).map_err(at)?;
    let cases = match lowering.attribute(op, "cases") {
        Some(Attribute::Array(_, cases)) => cases.clone(),
        _ => Vec::new(),
    };
    let values = case(lowering, op, number, &cases, 0)?;
    lowering.set_flattened(&mut values.into_iter(), &operation.results, &[], None, true).map_err(at)
}

/// Emits a conditional for the case `first` of an `scf.index_switch`; its else branch has the later cases. The first
/// region of the operation is the default case.
fn case(
    lowering: &mut Lowering<'_>,
    op: Op,
    number: Value,
    cases: &[u64],
    first: usize,
) -> Result<Vec<Value>, LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let Some(&bits) = cases.get(first) else {
        let block = operation.regions.first().map(|&region| lowering.only_block(region));
        let block = block.transpose().map_err(at)?;
        return block.map_or_else(|| Ok(Vec::new()), |block| yielded(lowering, op, block));
    };
    let ty = lowering.builder.type_of(number);
    let own = lowering.builder.constant(ty, bits);
    let condition = lowering.builder.compare(Compare::Eq, number, own);
    let then = lower_branch(lowering, op, operation.regions.get(first + 1).copied())?;
    lowering.builder.begin_region(&[]);
    let others = case(lowering, op, number, cases, first + 1)?;
    let otherwise = lowering.builder.end_region(&others);
    let types = lowering.flat_types(&operation.results).map_err(at)?;
    Ok(lowering.builder.if_else(condition, then, otherwise, &types))
}

/// Lowers `scf.execute_region`: emits the operations of its only block.
pub(in super::super) fn inlined(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let region = operation.regions.first().copied().ok_or_else(|| at(LowerErrorReason::malformed("it has no body")))?;
    let block = lowering.only_block(region).map_err(at)?;
    let values = yielded(lowering, op, block)?;
    lowering.set_flattened(&mut values.into_iter(), &operation.results, &[], None, true).map_err(at)
}

/// Lowers a branch to a kernel region with the values that it yields; the region is empty if the branch is absent.
pub(in super::super) fn lower_branch(
    lowering: &mut Lowering<'_>,
    op: Op,
    region: Option<tile::Region>,
) -> Result<Region, LowerError> {
    let body = lowering.body;
    lowering.builder.begin_region(&[]);
    let block = region.filter(|&region| !body.blocks(region).is_empty()).map(|region| lowering.only_block(region));
    let block = block.transpose().map_err(|reason| reason.at(body, op))?;
    let values = match block {
        Some(block) => yielded(lowering, op, block)?,
        None => Vec::new(),
    };
    Ok(lowering.builder.end_region(&values))
}
