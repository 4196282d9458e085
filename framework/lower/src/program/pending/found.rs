//! Finds the asynchronous MMAs of a program before it is lowered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilewright_tile::op::name::{scf, tt, ttg};

use crate::program::lowering::Lowering;
use crate::program::shared::layout_of;
use tilewright_assign::dot_plan;
use tilewright_layout::LinearLayout;
use tilewright_plan::mma::{MmaPlan, mma_candidates, plan_mma};
use tilewright_tile::op_attrs::PENDING;
use tilewright_tile::{Attribute, Block, Body, Op, Value, ValueOrigin};

use super::state::{AWAIT, Pending};

/// Finds the asynchronous MMAs of the program, and the values that carry their accumulators.
pub(in crate::program) fn planned(lowering: &Lowering<'_>) -> Pending {
    let body = lowering.body;
    if lowering.launch.blocks > 1 {
        // An MMA in flight is planned for one block; in a cluster it is complete at once.
        return Pending::default();
    }
    let marked =
        |op: &Op| matches!(body.op(*op).attributes.get(PENDING), Some(Attribute::Unit | Attribute::Bool(true)));
    let ops = body.walk(body.root());
    let mmas = ops.iter().copied().filter(|op| body.op(*op).name() == tt::DOT && marked(op));
    let mut mmas: HashMap<Op, Arc<MmaPlan>> =
        mmas.filter_map(|op| Some((op, Arc::new(plan_smem_operands(lowering, op)?)))).collect();
    let positions = OpPositions::of(body);
    loop {
        let flow = Flow::of(body, &ops, &mmas, &positions);
        let misused = flow.misused(body, &ops, &mmas, &positions);
        if misused.is_empty() {
            let loads = mmas.keys().flat_map(|&op| loads(body, op).into_iter().flatten().flatten()).collect();
            let there = flow.there;
            return Pending { mmas, values: flow.values, loads, there };
        }
        mmas.retain(|op, _| !misused.contains(op));
    }
}

/// Returns the load that produces an operand and the conversions between the two: the operand's producer first, the
/// load last. `None` if no load produces the operand.
pub(super) fn load(body: &Body, operand: Value) -> Option<Vec<Op>> {
    let ValueOrigin::Result(op, _) = body.origin(operand) else { return None };
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

/// Returns the loads of both operands of a dot, each as in [`load`]; `None` if a load is missing.
fn loads(body: &Body, op: Op) -> Option<[Vec<Op>; 2]> {
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
        if !is_full_buffer(body, body.op(load).operands[0]) {
            return None;
        }
        let lies = layout_of(lowering, body.op(load).operands[0]).ok()?;
        if !lies.memory.padding.is_empty() {
            return None;
        }
        memories.push(lies.memory.linear);
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
        let problem = problem.clone().with_unit(other.atom);
        match_descriptors(&plan_mma(&problem, config.context).ok()?, memories)
    })
}

/// Returns the plan with both operands read in place from these memories; `None` if it cannot read them or if its MMAs
/// cannot be asynchronous.
fn match_descriptors(plan: &MmaPlan, memories: [&LinearLayout; 2]) -> Option<MmaPlan> {
    plan.pending_queue()?;
    plan.with_operand_memory(0, memories[0]).ok()?.with_operand_memory(1, memories[1]).ok()
}

/// Whether the result of a load or conversion is used once, on the path to the MMA, and no operation between it and the
/// MMA may write memory.
fn stands_before(body: &Body, load: Op, op: Op) -> bool {
    let value = body.op(load).results[0];
    let all = body.walk(body.root());
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

/// Whether a tensor in memory is a whole buffer, not a subslice of one.
fn is_full_buffer(body: &Body, value: Value) -> bool {
    match body.origin(value) {
        ValueOrigin::Argument(..) => true,
        ValueOrigin::Result(op, _) => match body.op(op).name() {
            ttg::MEMDESC_SUBSLICE => false,
            ttg::MEMDESC_INDEX => true,
            ttg::MEMDESC_TRANS | ttg::MEMDESC_RESHAPE | ttg::MEMDESC_REINTERPRET => {
                is_full_buffer(body, body.op(op).operands[0])
            }
            _ => true,
        },
    }
}

/// The positions of operations in the program.
struct OpPositions {
    /// For each operation, the operation whose region contains it.
    around: HashMap<Op, Op>,
    /// For each operation, its block, and its index in the block.
    within: HashMap<Op, (Block, usize)>,
}

impl OpPositions {
    fn of(body: &Body) -> Self {
        let (mut around, mut within) = (HashMap::new(), HashMap::new());
        let mut regions = vec![(None, body.root())];
        while let Some((parent, region)) = regions.pop() {
            for &block in body.blocks(region) {
                for (at, &op) in body.ops(block).iter().enumerate() {
                    around.extend(parent.map(|parent| (op, parent)));
                    within.insert(op, (block, at));
                    regions.extend(body.op(op).regions.iter().map(|&region| (Some(op), region)));
                }
            }
        }
        Self { around, within }
    }
}

/// The dataflow of accumulators with MMAs in flight through a program.
#[derive(Default)]
struct Flow {
    values: HashMap<Value, Arc<MmaPlan>>,
    there: HashMap<Op, Vec<bool>>,
    /// Pairs of values that carry the same accumulator.
    joined: Vec<(Value, Value)>,
}

impl Flow {
    fn of(body: &Body, ops: &[Op], mmas: &HashMap<Op, Arc<MmaPlan>>, positions: &OpPositions) -> Self {
        let mut flow = Self::default();
        for (&op, plan) in mmas {
            flow.values.insert(body.op(op).results[0], plan.clone());
        }
        loop {
            let before = flow.values.len();
            flow.joined.clear();
            for &op in ops {
                flow.through(body, op, mmas, positions);
            }
            if flow.values.len() == before {
                return flow;
            }
        }
    }

    fn join(&mut self, from: Value, to: Value) {
        if let Some(plan) = self.values.get(&from).cloned() {
            self.values.entry(to).or_insert(plan);
            self.joined.push((from, to));
        }
    }

    fn through(&mut self, body: &Body, op: Op, mmas: &HashMap<Op, Arc<MmaPlan>>, positions: &OpPositions) {
        let operation = body.op(op);
        match operation.name() {
            AWAIT => {
                let there: Vec<bool> =
                    operation.operands.iter().map(|&value| is_there(body, op, value, mmas, positions)).collect();
                for ((&from, &to), there) in operation.operands.iter().zip(&operation.results).zip(&there) {
                    if !there {
                        self.join(from, to);
                    }
                }
                self.there.insert(op, there);
            }
            scf::FOR => {
                let Some(&block) = operation.regions.first().and_then(|&region| body.blocks(region).first()) else {
                    return;
                };
                let arguments = body.arguments(block);
                let last = body.ops(block).last().copied();
                for (index, &result) in operation.results.iter().enumerate() {
                    let Some(&argument) = arguments.get(index + 1) else { continue };
                    let given = last.and_then(|last| body.op(last).operands.get(index).copied());
                    let initial = operation.operands.get(index + 3).copied();
                    for from in [given, initial].into_iter().flatten() {
                        self.join(from, argument);
                    }
                    self.join(argument, result);
                }
            }
            _ if mmas.contains_key(&op) => {
                if let Some(accumulator) = body.operand(op, "c") {
                    self.join(accumulator, operation.results[0]);
                }
            }
            _ => {}
        }
    }

    /// Returns the MMAs whose accumulator, or initial value, reaches an operation that cannot take a pending value.
    fn misused(
        &self,
        body: &Body,
        ops: &[Op],
        mmas: &HashMap<Op, Arc<MmaPlan>>,
        positions: &OpPositions,
    ) -> HashSet<Op> {
        let mut bad: HashSet<Value> = HashSet::new();
        for &op in ops {
            let operation = body.op(op);
            for (index, value) in operation.operands.iter().enumerate() {
                let Some(plan) = self.values.get(value) else { continue };
                let fits = match operation.name() {
                    AWAIT => true,
                    scf::FOR => index >= 3,
                    scf::YIELD => positions.around.get(&op).is_some_and(|around| body.op(*around).name() == scf::FOR),
                    _ => mmas.get(&op).is_some_and(|dot| index == 2 && dot.can_accumulate_into(plan)),
                };
                if !fits {
                    bad.insert(*value);
                }
            }
        }
        loop {
            let before = bad.len();
            for &(a, b) in &self.joined {
                let plans = [a, b].map(|value| self.values.get(&value));
                let differ = matches!(plans, [Some(a), Some(b)] if !a.can_accumulate_into(b));
                if differ || bad.contains(&a) || bad.contains(&b) {
                    bad.extend([a, b]);
                }
            }
            if bad.len() == before {
                break;
            }
        }
        mmas.keys().copied().filter(|&op| bad.contains(&body.op(op).results[0])).collect()
    }
}

/// Whether the wait `wait` completes the MMA that produced `value`: the wait leaves no MMA in flight, or at least as
/// many MMAs were issued after the value as the wait leaves in flight.
fn is_there(body: &Body, wait: Op, value: Value, mmas: &HashMap<Op, Arc<MmaPlan>>, positions: &OpPositions) -> bool {
    let outstanding = body.op(wait).attributes.get("outstanding").and_then(Attribute::as_integer).unwrap_or(0);
    let Ok(outstanding @ 1..) = usize::try_from(outstanding) else { return true };
    let ValueOrigin::Result(from, _) = body.origin(value) else { return false };
    let (Some(&(block, issued)), Some(&(wait_block, at))) = (positions.within.get(&from), positions.within.get(&wait))
    else {
        return false;
    };
    if block != wait_block || !mmas.contains_key(&from) || issued > at {
        return false;
    }
    let since = body.ops(block)[issued + 1..at].iter().filter(|op| mmas.contains_key(op)).count();
    since >= outstanding
}
