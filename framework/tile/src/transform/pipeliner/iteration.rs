//! Iterations of a loop that is pipelined: the counter, whether there is such an iteration, and what the loop carries to it.

use super::slice::Slice;
use crate::op::name::arith;
use crate::transform::copy::Rewrite;
use crate::transform::{Copier, Rewritten, violation};
use crate::{Block, Op, Value};

/// An iteration, in the function that is made.
#[derive(Debug, Clone)]
pub(super) struct Iteration {
    pub counter: Value,
    /// Whether the loop has it, a bit.
    pub exists: Value,
    /// The loop-carried values that it needs, in the order of its stream's slice.
    pub carried: Vec<Value>,
}

impl Iteration {
    /// All of it, as the loop carries it.
    pub fn values(&self) -> Vec<Value> {
        [self.counter, self.exists].iter().chain(&self.carried).copied().collect()
    }

    /// The same of as many values as it has, taken from the front.
    pub fn with_arguments(&self, arguments: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let (counter, exists) = (arguments.next()?, arguments.next()?);
        Some(Self { counter, exists, carried: arguments.take(self.carried.len()).collect() })
    }
}

/// How a loop counts, and with what it begins.
pub(super) struct Bounds {
    pub block: Block,
    pub begin: Value,
    pub end: Value,
    pub step: Value,
    /// The initial values of all loop-carried values.
    pub initial: Vec<Value>,
    /// Whether they are compared without a sign.
    unsigned: bool,
}

impl Bounds {
    pub fn new(op: Op, copier: &Copier<'_, '_, '_>) -> Rewritten<Self> {
        let operation = copier.from.op(op);
        let block = operation.regions.first().and_then(|region| copier.from.blocks(*region).first().copied());
        let operands = copier.all(&operation.operands);
        let (Some(block), [begin, end, step, initial @ ..]) = (block, &operands[..]) else {
            return Err(violation(copier, op, "it has no body or no bounds"));
        };
        let unsigned = operation.attributes.get("unsignedCmp").is_some();
        Ok(Self { block, begin: *begin, end: *end, step: *step, initial: initial.to_vec(), unsigned })
    }

    /// The first iteration.
    pub fn first(&self, slice: &Slice, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Iteration> {
        let less = if self.unsigned { "ult" } else { "slt" };
        let exists = copier.to.compare(less, self.begin, self.end)?;
        let carried = slice.carried.iter().map(|number| self.initial[number - 1]).collect();
        Ok(Iteration { counter: self.begin, exists, carried })
    }

    /// Lets the loop's own values stand for those of an iteration, and executes a slice of it.
    pub fn enter(
        &self,
        slice: &Slice,
        iteration: &Iteration,
        front: &mut dyn Rewrite,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        let arguments = copier.from.arguments(self.block);
        copier.bind(arguments[0], iteration.counter);
        for (number, value) in slice.carried.iter().zip(&iteration.carried) {
            copier.bind(arguments[*number], *value);
        }
        Ok(slice.ops.iter().try_for_each(|op| copier.op(*op, front))?)
    }

    /// The iteration after the one that was entered. If there is an iteration, its distance to the end is a number without a sign
    /// that the type holds, so that nothing is compared that has overflowed.
    pub fn next(&self, slice: &Slice, iteration: &Iteration, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Iteration> {
        let yielded = self.yielded(copier);
        let carried = slice.carried.iter().map(|number| yielded[number - 1]).collect();
        let left = copier.to.binary(arith::SUBI, self.end, iteration.counter)?;
        let more = copier.to.compare("ugt", left, self.step)?;
        let exists = copier.to.binary(arith::ANDI, iteration.exists, more)?;
        let counter = copier.to.binary(arith::ADDI, iteration.counter, self.step)?;
        Ok(Iteration { counter, exists, carried })
    }

    /// The values that replace those that the iteration yields.
    pub fn yielded(&self, copier: &Copier<'_, '_, '_>) -> Vec<Value> {
        let last = copier.from.ops(self.block).last();
        last.map(|last| copier.all(&copier.from.op(*last).operands).to_vec()).unwrap_or_default()
    }

    /// The values that replace those of an iteration already entered, for entering it a second time after others.
    pub fn remembered(&self, slice: &Slice, copier: &Copier<'_, '_, '_>) -> Vec<(Value, Value)> {
        let arguments = copier.from.arguments(self.block);
        let carried = std::iter::once(0).chain(slice.carried.iter().copied()).map(|number| arguments[number]);
        let made = slice.ops.iter().flat_map(|op| copier.from.op(*op).results.iter().copied());
        carried.chain(made).map(|value| (value, copier.value(value))).collect()
    }
}
