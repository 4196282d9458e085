//! Finds the asynchronous MMAs of a program before it is lowered.

use std::collections::HashSet;
use std::sync::Arc;
use tilewright_tile::op::name::{tt, ttg};

use crate::program::lowering::Lowering;
use crate::program::shared::layout_of;
use tilewright_assign::dot_plan;
use tilewright_assign::layouts::first_coordinates;
use tilewright_layout::LinearLayout;
use tilewright_plan::mma::{MmaPlan, mma_candidates, plan_mma};
use tilewright_tile::{FunctionBody, Op, Value, ValueOrigin};

use super::flow::{Dots, Flow, is_pending};
use super::positions::OpPositions;
use super::resident;
use super::state::Pending;

/// Finds the asynchronous and the resident MMAs of the program, and the values that carry their accumulators.
pub(in crate::program) fn planned(lowering: &Lowering<'_>) -> Pending {
    let body = lowering.body;
    if lowering.launch.blocks > 1 {
        // Asynchronous MMAs are planned for one block only; in a cluster, each MMA completes before the next operation.
        return Pending::default();
    }
    let ops = body.walk_region(body.root());
    let positions = OpPositions::of(body);
    let mut dots = Dots::default();
    for &op in ops.iter().filter(|op| body.op(**op).name() == tt::DOT) {
        let pending = if is_pending(body, op) { plan_smem_operands(lowering, op) } else { None };
        match pending.filter(|plan| resident::may_be_async(lowering, op, plan, &positions)) {
            Some(plan) => drop(dots.mmas.insert(op, Arc::new(plan))),
            None => dots.residents.extend(resident::plan(lowering, op, &positions).map(|plan| (op, Arc::new(plan)))),
        }
    }
    loop {
        let flow = Flow::of(body, &ops, &dots, &positions);
        let misused = flow.misused(body, &ops, resident::misused(body, &ops, &flow, &positions), (&dots, &positions));
        if !misused.is_empty() {
            demote(&mut dots, lowering, &misused, &positions);
            continue;
        }
        let columns = match resident::assign_columns(lowering, &flow, &dots) {
            Ok(columns) => columns,
            Err(largest) => {
                dots.mmas.retain(|op, _| !largest.contains(op));
                dots.residents.retain(|op, _| !largest.contains(op));
                continue;
            }
        };
        let loads = dots.mmas.keys().flat_map(|&op| loads(body, op).into_iter().flatten().flatten()).collect();
        let Flow { values, there, leaving, .. } = flow;
        let Dots { mmas, residents } = dots;
        let all_columns = columns.all;
        return Pending { mmas, residents, values, leaving, columns: columns.first, all_columns, loads, there };
    }
}

/// Returns the chain of operations by which an operand comes from shared memory: layout conversions, beginning with the
/// operand's producer, and the load last. `None` if no load produces the operand.
pub(super) fn load(body: &FunctionBody, operand: Value) -> Option<Vec<Op>> {
    let ValueOrigin::Result(op, _) = body.value_origin(operand) else { return None };
    match body.op(op).name() {
        ttg::LOCAL_LOAD => Some(vec![op]),
        ttg::CONVERT_LAYOUT => {
            let mut chain = vec![op];
            chain.extend(load(body, body.op(op).operands[0])?);
            Some(chain)
        }
        _ => None,
    }
}

/// Returns, for the operands A and B of a dot, the chain of operations that [`load`] returns; `None` if no load
/// produces one of them.
fn loads(body: &FunctionBody, op: Op) -> Option<[Vec<Op>; 2]> {
    Some([load(body, body.operand(op, "a")?)?, load(body, body.operand(op, "b")?)?])
}

/// Returns the plan of a dot whose MMA reads both operands in place from shared memory; `None` if the MMA cannot.
fn plan_smem_operands(lowering: &Lowering<'_>, op: Op) -> Option<MmaPlan> {
    let body = lowering.body;
    let loads = loads(body, op)?;
    if !loads.iter().flatten().all(|&load| stands_before(body, load, op)) {
        return None;
    }
    let mut memories = Vec::with_capacity(2);
    for load in loads.iter().filter_map(|chain| chain.last().copied()) {
        let tensor = body.op(load).operands[0];
        let lies = layout_of(lowering, tensor).ok()?;
        if !lies.memory.padding.is_empty() || is_view_of_part(body, tensor) {
            return None;
        }
        memories.push((lies.memory.linear, first_coordinates(body, tensor, lowering.layouts)));
    }
    let (config, memories) = (lowering.config, [&memories[0], &memories[1]]);
    let usual = dot_plan::plan_dot(body, op, config).ok()?;
    if usual.batches.is_some() {
        return None;
    }
    if let Some(plan) = match_descriptors(&usual.plan, memories) {
        return Some(plan);
    }
    let problem = dot_plan::mma_problem(body, op, config.lanes, config.warps).ok()?;
    let problem = problem.with_registers(config.context.registers);
    let (others, _) = mma_candidates(&problem, config.context).ok()?;
    let mut tried = HashSet::new();
    others.into_iter().filter(|other| tried.insert(other.atom.clone())).find_map(|other| {
        let problem = problem.clone().with_atom(other.atom);
        match_descriptors(&plan_mma(&problem, config.context).ok()?, memories)
    })
}

/// Returns the plan changed so that the MMA reads both operands in place from memories with these layouts, beginning at
/// these coordinates. `None` if it cannot read them, or if its MMAs cannot be asynchronous.
fn match_descriptors(plan: &MmaPlan, memories: [&(LinearLayout, Vec<u64>); 2]) -> Option<MmaPlan> {
    plan.pending_queue().filter(|_| plan.chunk_count() == 1)?;
    let [(a, first_of_a), (b, first_of_b)] = memories;
    plan.with_operand_memory(0, a, first_of_a).ok()?.with_operand_memory(1, b, first_of_b).ok()
}

/// Whether the MMA `op` can read the operand later than the load or conversion `load` does. The result of `load` must
/// have one use, and no operation between the two may write memory.
fn stands_before(body: &FunctionBody, load: Op, op: Op) -> bool {
    let value = body.op(load).results[0];
    let all = body.walk_region(body.root());
    let uses = all.iter().flat_map(|&user| body.op(user).operands.iter()).filter(|&&operand| operand == value).count();
    if uses != 1 {
        return false;
    }
    let (Some(from), Some(to)) = (all.iter().position(|&at| at == load), all.iter().position(|&at| at == op)) else {
        return false;
    };
    let harmless = |op: &Op| {
        let operation = body.op(*op);
        operation.definition.traits.pure
            || operation.definition.traits.elementwise
            || operation.name() == ttg::LOCAL_LOAD
    };
    from < to && all[from..to].iter().all(harmless)
}

/// Whether a tensor in memory is another view, such as the transposed one, of a part of a buffer. Its address is that of
/// the part, so that the swizzle of the buffer is unknown.
fn is_view_of_part(body: &FunctionBody, value: Value) -> bool {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return false };
    let source = || body.op(op).operands[0];
    match body.op(op).name() {
        ttg::MEMDESC_TRANS | ttg::MEMDESC_RESHAPE | ttg::MEMDESC_REINTERPRET => has_part(body, source()),
        ttg::MEMDESC_SUBSLICE => is_view_of_part(body, source()),
        _ => false,
    }
}

/// Whether a tensor in memory is a part of a buffer, or a view of a part.
fn has_part(body: &FunctionBody, value: Value) -> bool {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return false };
    match body.op(op).name() {
        ttg::MEMDESC_SUBSLICE => true,
        ttg::MEMDESC_TRANS | ttg::MEMDESC_RESHAPE | ttg::MEMDESC_REINTERPRET => has_part(body, body.op(op).operands[0]),
        _ => false,
    }
}

/// Demotes the MMAs of `ops` by one level. An asynchronous MMA is then waited for immediately, and stays resident
/// if its accumulator may stay in tensor memory. A resident one returns its accumulator to registers.
fn demote(dots: &mut Dots, lowering: &Lowering<'_>, ops: &HashSet<Op>, positions: &OpPositions) {
    for &op in ops {
        if dots.mmas.remove(&op).is_some() {
            dots.residents.extend(resident::plan(lowering, op, positions).map(|plan| (op, Arc::new(plan))));
        } else {
            dots.residents.remove(&op);
        }
    }
}
