//! Trip counts of loops, and numbers of executions of operations.

use crate::LOOP_WEIGHT;
use tilewright_tile::axis_info::{AxisInfoMap, IntegerRange};
use tilewright_tile::op::name::{scf, tt};
use tilewright_tile::transform::tile_group_count;
use tilewright_tile::{FunctionBody, Op, Value, ValueOrigin};

/// Returns the trip count of a loop; [`LOOP_WEIGHT`] if its bounds are not constant.
pub(super) fn iteration_count(body: &FunctionBody, axis_info: &AxisInfoMap, op: Op) -> u64 {
    known_iteration_count(body, axis_info, op).unwrap_or(LOOP_WEIGHT)
}

/// Returns the trip count of a loop with constant bounds; `None` for other loops. If groups of warps alternate between the
/// iterations, it is that of all groups together.
pub(crate) fn known_iteration_count(body: &FunctionBody, axis_info: &AxisInfoMap, op: Op) -> Option<u64> {
    let bound = |index: usize| axis_info.get(body.op(op).operands[index])?.range.constant_value();
    match (bound(0)?, bound(1)?, bound(2)? / i64::from(tile_group_count(body, op))) {
        (begin, end, step) if step > 0 => {
            Some(u64::try_from(end.saturating_sub(begin)).unwrap_or(0).div_ceil(step as u64))
        }
        _ => None,
    }
}

/// Returns the mean trip count of a loop over the blocks of a launch: the distance between the middles of the ranges
/// that `launch_info` has for the loop's bounds, divided by the middle of the range of its step. [`LOOP_WEIGHT`] if a
/// range is unknown, e.g. because a bound is a loaded value.
pub(super) fn mean_iteration_count(body: &FunctionBody, launch_info: &AxisInfoMap, op: Op) -> u64 {
    let operands = &body.op(op).operands;
    let middle = |index: usize| {
        let range = launch_info.get(operands[index])?.range;
        let all = IntegerRange::of_integer_width(body.value_type(operands[index]).element_bits().unwrap_or(64));
        let is_known = range.min > all.min && range.max < all.max;
        is_known.then_some((range.min as f64 + range.max as f64) / 2.0)
    };
    let step = middle(2).map(|step| step / f64::from(tile_group_count(body, op)));
    match (middle(0), middle(1), step) {
        (Some(begin), Some(end), Some(step)) if step > 0.0 => ((end - begin) / step).ceil().max(0.0) as u64,
        _ => LOOP_WEIGHT,
    }
}

/// Returns the number of blocks that launch a persistent program: the constant step of a loop over tiles that begins at
/// the index of the block. `None` for other programs, and if the program reads the index along several axes.
pub(super) fn persistent_block_count(body: &FunctionBody, axis_info: &AxisInfoMap) -> Option<u64> {
    let ops = body.walk_region(body.root());
    let axis = |op: Op| body.op(op).attributes.get("axis");
    let ids: Vec<Op> = ops.iter().copied().filter(|op| body.op(*op).name() == tt::GET_PROGRAM_ID).collect();
    if ids.iter().any(|id| axis(*id) != axis(ids[0])) {
        return None;
    }
    let is_id = |value: Value| matches!(body.value_origin(value), ValueOrigin::Result(op, _) if ids.contains(&op));
    let steps = |op: &Op| {
        let operands = &body.op(*op).operands;
        let step = axis_info.get(operands[2])?.range.constant_value()? / i64::from(tile_group_count(body, *op));
        u64::try_from(step).ok().filter(|step| *step > 1 && is_id(operands[0]))
    };
    ops.iter().filter(|op| body.op(**op).name() == scf::FOR).find_map(steps)
}

/// Returns the number of executions of an operation: the product of the trip counts of all enclosing loops.
pub(super) fn execution_count(body: &FunctionBody, axis_info: &AxisInfoMap, op: Op) -> u64 {
    let mut execution_count = 1u64;
    for of in body.walk_region(body.root()).into_iter().filter(|of| body.op(*of).name() == scf::FOR) {
        if body.op(of).regions.iter().any(|region| body.walk_region(*region).contains(&op)) {
            execution_count = execution_count.saturating_mul(iteration_count(body, axis_info, of));
        }
    }
    execution_count
}
