//! Represents an iteration of a pipelined loop in the emitted function.

use super::schedule::Stream;
use super::slice::Slice;
use crate::op::name::{arith, scf};
use crate::transform::ir_cloner::Rewrite;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Block, Op, Region, TileType, Value};

/// An iteration of a pipelined loop, as values of the emitted function.
#[derive(Debug, Clone)]
pub(super) struct Iteration {
    pub counter: Value,
    /// Whether the loop has this iteration, as an `i1`.
    pub exists: Value,
    /// Whether the loop carries `exists`. It does not if the iteration is the one after the current one, whose counter
    /// tells whether there is another.
    pub carries_existence: bool,
    /// The loop-carried values on which the iteration's slice depends, in the order of [`Slice::carried`].
    pub carried: Vec<Value>,
}

impl Iteration {
    /// The values of the iteration in the order of the emitted loop's arguments: counter, `i1`, loop-carried values.
    pub fn values(&self) -> Vec<Value> {
        let exists = self.carries_existence.then_some(self.exists);
        std::iter::once(self.counter).chain(exists).chain(self.carried.iter().copied()).collect()
    }

    /// Returns an iteration with as many values as this one, taken from `arguments`; `None` if the counter or the `i1`
    /// is missing there.
    pub fn with_arguments(&self, arguments: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let counter = arguments.next()?;
        let exists = if self.carries_existence { arguments.next()? } else { self.exists };
        Some(Self {
            counter,
            exists,
            carries_existence: self.carries_existence,
            carried: arguments.take(self.carried.len()).collect(),
        })
    }
}

/// The bounds and initial values of a loop, in the emitted function.
#[derive(Clone)]
pub(in crate::transform) struct Bounds {
    /// The loop in the source function.
    op: Op,
    pub block: Block,
    pub begin: Value,
    pub end: Value,
    pub step: Value,
    /// The initial values of all loop-carried values.
    pub initial: Vec<Value>,
    /// Whether the loop compares its counter as an unsigned integer.
    unsigned: bool,
}

impl Bounds {
    pub fn new(op: Op, cloner: &IrCloner<'_, '_, '_>) -> Rewritten<Self> {
        let operation = cloner.from.op(op);
        let block = operation.regions.first().and_then(|region| cloner.from.blocks(*region).first().copied());
        let operands = cloner.all(&operation.operands);
        let (Some(block), [begin, end, step, initial @ ..]) = (block, &operands[..]) else {
            return Err(violation(cloner, op, "it has no body or no bounds"));
        };
        let unsigned = operation.attributes.get("unsignedCmp").is_some();
        Ok(Self { op, block, begin: *begin, end: *end, step: *step, initial: initial.to_vec(), unsigned })
    }

    /// Emits the first iteration of the loop, with the loop-carried values of the stream's slice.
    pub(super) fn emit_first_iteration(
        &self,
        stream: &Stream,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Iteration> {
        let exists = self.emit_is_entered(cloner)?;
        let carried = stream.slice.carried.iter().map(|index| self.initial[index - 1]).collect();
        Ok(Iteration { counter: self.begin, exists, carries_existence: stream.distance > 1, carried })
    }

    /// Emits the test whether the loop has an iteration, as an `i1`.
    pub fn emit_is_entered(&self, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let less = if self.unsigned { "ult" } else { "slt" };
        Ok(cloner.to.compare(less, self.begin, self.end)?)
    }

    /// Binds the loop's values to those of the iteration with this counter and these loop-carried values of `slice`, and
    /// emits the operations of `slice` for it.
    pub fn emit_slice(
        &self,
        slice: &Slice,
        (counter, carried): (Value, &[Value]),
        front: &mut dyn Rewrite,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let arguments = cloner.from.arguments(self.block);
        cloner.bind(arguments[0], counter);
        for (index, value) in slice.carried.iter().zip(carried) {
            cloner.bind(arguments[*index], *value);
        }
        Ok(slice.ops.iter().try_for_each(|op| cloner.rewrite_or_clone_op(*op, front))?)
    }

    /// Emits the operations of `slice` that must not be executed for an iteration that the loop does not have, for the
    /// iteration whose other operations of the slice were emitted last.
    pub fn emit_guarded(slice: &Slice, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        for &op in &slice.guarded {
            cloner.clone_op_with(op, cloner.all(&cloner.from.op(op).operands), Vec::new());
        }
        Ok(())
    }

    /// Emits the test whether another iteration follows the one with this counter, as an `i1`.
    ///
    /// It does if the distance of the counter to the end is more than a step. An unsigned integer of the counter's type
    /// holds that distance, so the comparison is not wrong by an overflow.
    pub fn emit_has_next(&self, counter: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let left = cloner.to.binary(arith::SUBI, self.end, counter)?;
        Ok(cloner.to.compare("ugt", left, self.step)?)
    }

    /// Emits the iteration after `iteration`, whose slice was emitted last. If the loop does not carry its existence, it
    /// is left open.
    pub(super) fn emit_next_iteration(
        &self,
        slice: &Slice,
        iteration: &Iteration,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Iteration> {
        let yielded = self.yielded_clones(cloner);
        let carried = slice.carried.iter().map(|index| yielded[index - 1]).collect();
        let mut exists = iteration.exists;
        if iteration.carries_existence {
            let has_next = self.emit_has_next(iteration.counter, cloner)?;
            exists = cloner.to.binary(arith::ANDI, exists, has_next)?;
        }
        let counter = cloner.to.binary(arith::ADDI, iteration.counter, self.step)?;
        Ok(Iteration { counter, exists, carries_existence: iteration.carries_existence, carried })
    }

    /// The clones of the values that the loop body yields, for the iteration that was emitted last.
    pub fn yielded_clones(&self, cloner: &IrCloner<'_, '_, '_>) -> Vec<Value> {
        let last = cloner.from.ops(self.block).last();
        last.map(|last| cloner.all(&cloner.from.op(*last).operands).to_vec()).unwrap_or_default()
    }

    /// Pairs of the values of a slice and their clones in the current iteration, to bind them again after other
    /// iterations.
    ///
    /// The values are the counter, the carried block arguments, and the results of the slice's operations.
    pub fn slice_bindings(&self, slice: &Slice, cloner: &IrCloner<'_, '_, '_>) -> Vec<(Value, Value)> {
        let arguments = cloner.from.arguments(self.block);
        let carried = std::iter::once(0).chain(slice.carried.iter().copied()).map(|index| arguments[index]);
        let computed = slice.ops.iter().flat_map(|op| cloner.from.op(*op).results.iter().copied());
        carried.chain(computed).map(|value| (value, cloner.clone_of(value))).collect()
    }

    /// Starts the body of the `scf.for` with these initial values; returns its region, the enclosing block, and its
    /// block arguments.
    ///
    /// The first argument is the counter.
    pub fn enter(&self, initial: &[Value], cloner: &mut IrCloner<'_, '_, '_>) -> (Region, Block, Vec<Value>) {
        let all = std::iter::once(&self.begin).chain(initial);
        let types = all.map(|value| cloner.to.ty(*value).clone()).collect();
        let (region, around) = cloner.to.enter_region(types);
        let arguments = cloner.to.block_arguments(cloner.to.block()).to_vec();
        (region, around, arguments)
    }

    /// Ends the body of the `scf.for`, which yields `given`, and appends the loop to block `around`; returns its
    /// results.
    pub fn close(
        &self,
        region: Region,
        around: Block,
        initial: &[Value],
        given: &[Value],
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        cloner.to.build_op(scf::YIELD).operands("results", given).build()?;
        cloner.to.set_insertion_block(around);
        let types: Vec<TileType> = initial.iter().map(|value| cloner.to.ty(*value).clone()).collect();
        let new_op = cloner.to.build_op(scf::FOR).operand(self.begin).operand(self.end).operand(self.step);
        let new_op = new_op.operands("initial", initial).existing_region(region);
        let attributes = cloner.from.op(self.op).attributes.iter();
        let new_op = new_op.results(types).attributes(attributes.map(|(name, value)| (name, value.clone())));
        Ok(new_op.values()?.to_vec())
    }
}
