//! Accumulators that stay in tensor memory (PTX `tcgen05`) from one MMA to the next, in columns of their own.
//!
//! Such an accumulator is a chain of values, each used once: an MMA, a loop that carries it, a wait. The first
//! value is a tensor in registers, which is stored to the columns. A wait that completes the accumulator, or the end of
//! the loop, loads the columns.

use std::collections::{HashMap, HashSet};

use tilewright_assign::dot_plan;
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::op::name::{scf, tt};
use tilewright_tile::transform::loads::carried_accumulator_index;
use tilewright_tile::{FunctionBody, Op, Value};

use super::flow::{Dots, Flow, is_pending};
use super::positions::OpPositions;
use crate::program::lowering::Lowering;

/// The columns of the accumulators in the kernel's allocation of tensor memory.
pub(super) struct Columns {
    /// The first column of each value's accumulator.
    pub first: HashMap<Value, u32>,
    /// Number of tensor-memory columns of all accumulators together.
    pub all: u32,
}

/// Returns the plan of a dot whose accumulator may stay in tensor memory, because a loop carries it only from one
/// iteration's dot to the next, perhaps through waits for MMAs; `None` for another dot.
pub(super) fn plan(lowering: &Lowering<'_>, op: Op, positions: &OpPositions) -> Option<MmaPlan> {
    let (body, config) = (lowering.body, lowering.config);
    config.context.target.tensor.as_ref()?;
    let &(block, _) = positions.within.get(&op)?;
    if !is_pending(body, op) && carried_accumulator_index(body, block, op).is_none() {
        return None;
    }
    let planned = dot_plan::plan_dot(body, op, config).ok()?;
    let is_single = planned.batches.is_none() && planned.blocks.is_empty();
    let plan = Some(planned.plan).filter(|plan| is_single && plan.is_in_tensor_memory())?;
    is_numbered(lowering, op, &plan, positions).then_some(plan)
}

/// Whether the MMA of a dot may be in flight while the program continues. An MMA that accumulates in tensor memory must
/// arrive at the kernel's mbarriers, and each iteration must wait for MMAs, since a few mbarriers serve all of them.
pub(super) fn may_be_async(lowering: &Lowering<'_>, op: Op, plan: &MmaPlan, positions: &OpPositions) -> bool {
    !plan.is_in_tensor_memory()
        || is_numbered(lowering, op, plan, positions) && positions.is_waited_for(lowering.body, op)
}

/// Whether the MMAs of a dot are counted in the program-wide sequence of MMA groups, and arrive at the kernel's
/// mbarriers.
fn is_numbered(lowering: &Lowering<'_>, op: Op, plan: &MmaPlan, positions: &OpPositions) -> bool {
    let in_loops = positions.is_only_in_loops(lowering.body, op);
    !lowering.has_groups() && in_loops && plan.commits_per_group() == lowering.mma_arrivals()
}

/// Returns the values whose accumulator cannot stay in tensor memory, because they have several users, or because
/// different operations put the accumulator there.
pub(super) fn misused(body: &FunctionBody, ops: &[Op], flow: &Flow, positions: &OpPositions) -> HashSet<Value> {
    let in_memory = |value: Value| flow.values.get(&value).is_some_and(|plan| plan.is_in_tensor_memory());
    let mut bad: HashSet<Value> =
        flow.values.keys().copied().filter(|&value| in_memory(value) && positions.users(value).len() > 1).collect();
    let representatives = representatives(flow);
    let mut started: HashSet<Value> = HashSet::new();
    // `target` receives the accumulator of `given`.
    let mut begin = |given: Value, target: Value| {
        if in_memory(target) && !in_memory(given) && !started.insert(representatives[&target]) {
            bad.insert(target);
        }
    };
    for &op in ops {
        let operation = body.op(op);
        if operation.name() == scf::FOR {
            let block = operation.regions.first().and_then(|&region| body.blocks(region).first().copied());
            let arguments = block.map_or(&[][..], |block| body.arguments(block));
            let last = block.and_then(|block| body.ops(block).last().copied());
            for (index, &argument) in arguments.iter().skip(1).enumerate() {
                let initial = operation.operands.get(index + 3).copied();
                let given = last.and_then(|last| body.op(last).operands.get(index).copied());
                [initial, given].into_iter().flatten().for_each(|given| begin(given, argument));
            }
        } else if let (tt::DOT, Some(c)) = (operation.name(), body.operand(op, "c")) {
            begin(c, operation.results[0]);
        }
    }
    bad
}

/// Assigns columns of tensor memory to the accumulators. If they and the accumulators of the other dots need too many
/// columns, returns as the error the dots of the largest accumulator.
pub(super) fn assign_columns(lowering: &Lowering<'_>, flow: &Flow, dots: &Dots) -> Result<Columns, HashSet<Op>> {
    let Some(memory) = &lowering.config.context.target.tensor else {
        return Ok(Columns { first: HashMap::new(), all: 0 });
    };
    let representatives = representatives(flow);
    let mut sizes: Vec<(u32, Value)> = Vec::new();
    for (value, plan) in flow.values.iter().filter(|(_, plan)| plan.is_in_tensor_memory()) {
        let representative = representatives[value];
        match sizes.iter_mut().find(|(_, known)| *known == representative) {
            Some((columns, _)) => *columns = plan.tensor_memory_columns().max(*columns),
            None => sizes.push((plan.tensor_memory_columns(), representative)),
        }
    }
    // Numbers of columns are powers of two. In descending order, each accumulator starts at a multiple of its number of
    // columns.
    sizes.sort_by_key(|&(columns, value)| (std::cmp::Reverse(columns), value.index()));
    let (mut of, mut all) = (HashMap::new(), 0);
    for &(columns, representative) in &sizes {
        of.insert(representative, all);
        all += columns;
    }
    let others = lowering.dots_in_tensor_memory().filter(|(op, _)| dots.plan(*op).is_none());
    let others = others.map(|(_, plan)| plan.tensor_memory_columns()).max().unwrap_or(0);
    if (all + others).next_power_of_two() > memory.columns
        && let Some(&(_, largest)) = sizes.first()
    {
        let is_largest = |op: &Op| representatives.get(&lowering.body.op(*op).results[0]) == Some(&largest);
        return Err(dots.iter().map(|(op, _)| op).filter(is_largest).collect());
    }
    let first = representatives.iter().filter_map(|(&value, of_value)| Some((value, *of.get(of_value)?))).collect();
    Ok(Columns { first, all })
}

/// Maps each value that carries an accumulator to a representative, one of the values that carry the same accumulator.
fn representatives(flow: &Flow) -> HashMap<Value, Value> {
    let all = flow.values.keys().chain(flow.leaving.keys());
    let mut representatives: HashMap<Value, Value> = all.map(|&value| (value, value)).collect();
    loop {
        let mut changes = false;
        for (a, b) in &flow.joined {
            let (Some(&first), Some(&second)) = (representatives.get(a), representatives.get(b)) else { continue };
            if first != second {
                let least = if first.index() < second.index() { first } else { second };
                representatives.insert(*a, least);
                representatives.insert(*b, least);
                changes = true;
            }
        }
        if !changes {
            return representatives;
        }
    }
}
