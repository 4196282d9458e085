//! The flow of pending accumulators through the values of a program.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tilewright_plan::mma::MmaPlan;
use tilewright_tile::op::name::scf;
use tilewright_tile::op_attrs::IS_PENDING;
use tilewright_tile::{Attribute, FunctionBody, Op, Value, ValueOrigin};

use super::positions::OpPositions;
use super::state::AWAIT;

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
}

/// Whether the program asks for an asynchronous MMA.
pub(super) fn is_pending(body: &FunctionBody, op: Op) -> bool {
    matches!(body.op(op).attributes.get(IS_PENDING), Some(Attribute::Unit | Attribute::Bool(true)))
}

/// Whether the operation `op` can take the accumulator of an MMA with the plan `plan`, as its operand `index`, while
/// the accumulator is in flight or in tensor memory.
fn takes(
    body: &FunctionBody,
    (op, index): (Op, usize),
    plan: &MmaPlan,
    (dots, positions): (&Dots, &OpPositions),
) -> bool {
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
    pub there: HashMap<Op, Vec<bool>>,
    /// The results of loops whose accumulator leaves tensor memory after the loop.
    pub leaving: HashMap<Value, Arc<MmaPlan>>,
    /// Pairs of values that carry the same accumulator. The second may be the result of a loop after which the
    /// accumulator leaves tensor memory.
    pub joined: Vec<(Value, Value)>,
}

impl Flow {
    pub(super) fn of(body: &FunctionBody, ops: &[Op], dots: &Dots, positions: &OpPositions) -> Self {
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
    fn leave(&mut self, body: &FunctionBody, argument: Value, result: Value, dots: &Dots, positions: &OpPositions) {
        let Some(plan) = self.values.get(&argument).cloned() else { return };
        let is_taken = positions.users(result).iter().all(|&user| takes(body, user, &plan, (dots, positions)));
        if is_taken || !plan.is_in_tensor_memory() {
            return self.join(argument, result);
        }
        self.leaving.insert(result, plan);
        self.joined.push((argument, result));
    }

    fn through(&mut self, body: &FunctionBody, op: Op, dots: &Dots, positions: &OpPositions) {
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
    /// memory, or is a value of `bad`. These must be demoted, with all MMAs of the same accumulator.
    pub(super) fn misused(
        &self,
        body: &FunctionBody,
        ops: &[Op],
        mut bad: HashSet<Value>,
        (dots, positions): (&Dots, &OpPositions),
    ) -> HashSet<Op> {
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
fn is_there(
    body: &FunctionBody,
    wait: Op,
    value: Value,
    mmas: &HashMap<Op, Arc<MmaPlan>>,
    positions: &OpPositions,
) -> bool {
    let outstanding = body.op(wait).attributes.get("outstanding").and_then(Attribute::as_integer).unwrap_or(0);
    let Ok(outstanding @ 1..) = usize::try_from(outstanding) else { return true };
    let ValueOrigin::Result(from, _) = body.value_origin(value) else { return false };
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
