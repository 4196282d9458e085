//! Lowers `tt.reduce`.

use std::sync::Arc;

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement;
use tilewright_tile::Op;

use super::super::error::{LowerError, LowerErrorReason, Lowered};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::combine::Tuples;

/// Lowers `tt.reduce`: reduces tuples of elements, one of each operand, along an axis. One-dimensional operands give
/// scalars.
pub(in super::super) fn reduced(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let tuples = Tuples::of(lowering, op).map_err(at)?;
    let layout = tuples.tensors[0].layout.clone();
    let given = converted_layout(lowering, op).map_err(at)?;
    let target = lowering.config.context.target;
    let planned = match (lowering.plans.reductions.get(&op), &given) {
        (Some(plan), _) => Ok(plan.clone()),
        (None, Some(given)) => movement::plan_reduction_to(given, &layout, tuples.axis, &tuples.bits, target),
        (None, None) => movement::plan_reduction(&layout, tuples.axis, &tuples.bits, target),
    };
    let mut plan = planned.map_err(|error| at(error.into()))?;
    if tuples.depends_on_order(lowering.body) {
        plan = plan.with_equal_replicas(target);
    }
    let results = tuples.through(lowering, |builder, words, combine| plan.emit(builder, words, combine))?;
    let from = match &given {
        Some(given) => given.clone(),
        None => Arc::new(reduced_layout(&plan.result, tuples.axis).map_err(at)?),
    };
    for (index, values) in results.into_iter().enumerate() {
        let result = lowering.result(op, index).map_err(at)?;
        if body.value_type(result).as_tensor().is_none() {
            lowering.set_assumed_uniform(result, values[0]);
            continue;
        }
        let required = match &given {
            Some(given) => given.clone(),
            None => lowering.layout_of(result).map_err(at)?,
        };
        let values = lowering.convert(&Registers::new(from.clone(), values), &required).map_err(at)?;
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(required, values)));
    }
    Ok(())
}

/// Returns the layout that conversions give to all used results of a reduction; `None` if a result is used otherwise.
fn converted_layout(lowering: &mut Lowering<'_>, op: Op) -> Lowered<Option<Arc<LinearLayout>>> {
    let mut given: Option<Arc<LinearLayout>> = None;
    for &result in &lowering.body.op(op).results {
        if !lowering.is_used(result) {
            continue;
        }
        let Some(converted) = lowering.only_conversion(result) else { return Ok(None) };
        let layout = lowering.layout_of(converted)?;
        if given.get_or_insert_with(|| layout.clone()) != &layout {
            return Ok(None);
        }
    }
    Ok(given)
}

/// Returns the layout of a reduction's result: the axis is removed, and later axes move up by one.
///
/// # Errors
/// The result is a valid layout if `layout` is one of a tensor, so no error occurs for it.
pub fn reduced_layout(layout: &LinearLayout, axis: Dim) -> Result<LinearLayout, LowerErrorReason> {
    let outs = layout.outs();
    let mut kept: Vec<(Dim, u64)> =
        outs.iter().filter(|&(dim, _)| dim != axis).map(|(dim, bits)| (dim, 1u64 << bits)).collect();
    kept.sort_by_key(|&(dim, _)| dim);
    let named: Vec<(Dim, u64)> =
        kept.iter().enumerate().map(|(index, &(_, size))| (Dim::tensor(index), size)).collect();
    let space = Space::from_sizes(&named)?;
    let moved = |&column: &u64| {
        let coordinates = kept.iter().zip(&named).map(|(&(old, _), &(new, _))| (new, outs.coordinate(column, old)));
        space.pack(&coordinates.collect::<Vec<_>>())
    };
    let columns = layout.columns().iter().map(moved).collect::<Result<Vec<_>, _>>()?;
    Ok(LinearLayout::from_columns(layout.ins().clone(), space, &columns)?)
}
