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

use super::resident;
use super::state::{AWAIT, Pending};

/// The dots whose accumulator does not return to registers after the dot, with their plans. Their MMAs are in flight,
/// or the accumulator stays in tensor memory.
#[derive(Default)]
pub(super) struct Dots {
    /// The asynchronous MMAs.
    pub mmas: HashMap<Op, Arc<MmaPlan>>,
    /// The MMAs that are waited for immediately, but whose accumulator stays in tensor memory.
    pub residents: HashMap<Op, Arc<MmaPlan>>,
}

impl Dots {
    pub(super) fn plan(&self, op: Op) -> Option<&Arc<MmaPlan>> {
        self.mmas.get(&op).or_else(|| self.residents.get(&op))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Op, &Arc<MmaPlan>)> {
        self.mmas.iter().chain(&self.residents).map(|(&op, plan)| (op, plan))
    }

    /// Demotes the MMAs of `ops` by one level. An asynchronous MMA is then waited for immediately, and stays resident
    /// if its accumulator may stay in tensor memory. A resident one returns its accumulator to registers.
    fn demote(&mut self, lowering: &Lowering<'_>, ops: &HashSet<Op>, positions: &OpPositions) {
        for &op in ops {
            if self.mmas.remove(&op).is_some() {
                self.residents.extend(resident::plan(lowering, op, positions).map(|plan| (op, Arc::new(plan))));
            } else {
                self.residents.remove(&op);
            }
        }
    }
}

/// Finds the asynchronous and the resident MMAs of the program, and the values that carry their accumulators.
pub(in crate::program) fn planned(lowering: &Lowering<'_>) -> Pending {
    let body = lowering.body;
    if lowering.launch.blocks > 1 {
        // Asynchronous MMAs are planned for one block only; in a cluster, each MMA completes before the next operation.
        return Pending::default();
    }
    let ops = body.walk(body.root());
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
        let misused = flow.misused(body, &ops, &dots, &positions);
        if !misused.is_empty() {
            dots.demote(lowering, &misused, &positions);
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

/// Whether the program asks for an asynchronous MMA.
pub(super) fn is_pending(body: &Body, op: Op) -> bool {
    matches!(body.op(op).attributes.get(PENDING), Some(Attribute::Unit | Attribute::Bool(true)))
}

/// Returns the chain of operations by which an operand comes from shared memory: layout conversions, beginning with the
/// operand's producer, and the load last. `None` if no load produces the operand.
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

/// Returns, for the operands A and B of a dot, the chain of operations that [`load`] returns; `None` if no load
/// produces one of them.
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
        let problem = problem.clone().with_atom(other.atom);
        match_descriptors(&plan_mma(&problem, config.context).ok()?, memories)
    })
}

/// Returns the plan changed so that the MMA reads both operands in place from memory with these layouts. `None` if it
/// cannot read them, or if its MMAs cannot be asynchronous.
fn match_descriptors(plan: &MmaPlan, memories: [&LinearLayout; 2]) -> Option<MmaPlan> {
    plan.pending_queue()?;
    plan.with_operand_memory(0, memories[0]).ok()?.with_operand_memory(1, memories[1]).ok()
}

/// Whether the MMA `op` can read the operand later than the load or conversion `load` does. The result of `load` must
/// have one use, and no operation between the two may write memory.
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
pub(in crate::program) struct OpPositions {
    /// For each operation, the operation whose region contains it.
    around: HashMap<Op, Op>,
    /// For each operation, its block, and its index in the block.
    pub within: HashMap<Op, (Block, usize)>,
    /// For each value, the operations that use it, each with the index of the operand.
    users: HashMap<Value, Vec<(Op, usize)>>,
}

impl OpPositions {
    pub(in crate::program) fn of(body: &Body) -> Self {
        let (mut around, mut within, mut users) = (HashMap::new(), HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut regions = vec![(None, body.root())];
        while let Some((parent, region)) = regions.pop() {
            for &block in body.blocks(region) {
                for (at, &op) in body.ops(block).iter().enumerate() {
                    around.extend(parent.map(|parent| (op, parent)));
                    within.insert(op, (block, at));
                    for (index, &value) in body.op(op).operands.iter().enumerate() {
                        users.entry(value).or_default().push((op, index));
                    }
                    regions.extend(body.op(op).regions.iter().map(|&region| (Some(op), region)));
                }
            }
        }
        Self { around, within, users }
    }

    /// The operations that use a value, each with the index of the operand.
    pub(super) fn users(&self, value: Value) -> &[(Op, usize)] {
        self.users.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether the operation is in no other control flow than `scf.for` loops.
    pub(in crate::program) fn is_only_in_loops(&self, body: &Body, op: Op) -> bool {
        let mut parents = std::iter::successors(self.around.get(&op), |parent| self.around.get(parent));
        parents.all(|parent| body.op(*parent).name() == scf::FOR)
    }

    /// Whether the iteration that executes the operation also waits for MMAs, in the same block; true outside of loops.
    pub(super) fn is_waited_for(&self, body: &Body, op: Op) -> bool {
        let is_wait = |op: &Op| body.op(*op).name() == AWAIT;
        let waits = || self.within.get(&op).is_some_and(|(block, _)| body.ops(*block).iter().any(is_wait));
        !self.around.contains_key(&op) || waits()
    }

    /// Whether the operation, a terminator, ends the body of an `scf.for` loop.
    fn ends_iteration(&self, body: &Body, op: Op) -> bool {
        self.around.get(&op).is_some_and(|around| body.op(*around).name() == scf::FOR)
    }
}

/// Whether the operation `op` can take the accumulator of an MMA with the plan `plan`, as its operand `index`, while
/// the accumulator is in flight or in tensor memory.
fn takes(body: &Body, (op, index): (Op, usize), plan: &MmaPlan, (dots, positions): (&Dots, &OpPositions)) -> bool {
    match body.op(op).name() {
        AWAIT => true,
        scf::FOR => index >= 3,
        scf::YIELD => positions.ends_iteration(body, op),
        _ => dots.plan(op).is_some_and(|dot| index == 2 && dot.can_accumulate_into(plan)),
    }
}

/// The flow of accumulators that are in flight or in tensor memory through the values of a program.
#[derive(Default)]
pub(super) struct Flow {
    pub values: HashMap<Value, Arc<MmaPlan>>,
    there: HashMap<Op, Vec<bool>>,
    /// The results of loops whose accumulator leaves tensor memory after the loop.
    pub leaving: HashMap<Value, Arc<MmaPlan>>,
    /// Pairs of values that carry the same accumulator. The second may be the result of a loop after which the
    /// accumulator leaves tensor memory.
    pub joined: Vec<(Value, Value)>,
}

impl Flow {
    fn of(body: &Body, ops: &[Op], dots: &Dots, positions: &OpPositions) -> Self {
        let mut flow = Self::default();
        for (op, plan) in dots.iter() {
            flow.values.insert(body.op(op).results[0], plan.clone());
        }
        loop {
            let before = flow.values.len();
            flow.joined.clear();
            for &op in ops {
                flow.through(body, op, dots, positions);
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

    /// Records that the result of a loop carries the same accumulator as the loop's argument. If a user of the result
    /// cannot take the accumulator in tensor memory, it leaves tensor memory after the loop.
    fn leave(&mut self, body: &Body, argument: Value, result: Value, dots: &Dots, positions: &OpPositions) {
        let Some(plan) = self.values.get(&argument).cloned() else { return };
        let is_taken = positions.users(result).iter().all(|&user| takes(body, user, &plan, (dots, positions)));
        if is_taken || !plan.is_in_tensor_memory() {
            return self.join(argument, result);
        }
        self.leaving.insert(result, plan);
        self.joined.push((argument, result));
    }

    fn through(&mut self, body: &Body, op: Op, dots: &Dots, positions: &OpPositions) {
        let operation = body.op(op);
        match operation.name() {
            AWAIT => {
                let there: Vec<bool> =
                    operation.operands.iter().map(|&value| is_there(body, op, value, &dots.mmas, positions)).collect();
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
                    self.leave(body, argument, result, dots, positions);
                }
            }
            _ if dots.plan(op).is_some() => {
                if let Some(accumulator) = body.operand(op, "c") {
                    self.join(accumulator, operation.results[0]);
                }
            }
            _ => {}
        }
    }

    /// Returns the MMAs whose accumulator reaches an operation that cannot take it while it is in flight or in tensor
    /// memory. These must be demoted, with all MMAs of the same accumulator.
    fn misused(&self, body: &Body, ops: &[Op], dots: &Dots, positions: &OpPositions) -> HashSet<Op> {
        let mut bad = resident::misused(body, ops, self, positions);
        for &op in ops {
            for (index, value) in body.op(op).operands.iter().enumerate() {
                let Some(plan) = self.values.get(value) else { continue };
                if !takes(body, (op, index), plan, (dots, positions)) {
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
        dots.iter().map(|(op, _)| op).filter(|&op| bad.contains(&body.op(op).results[0])).collect()
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
