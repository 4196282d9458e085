//! Waits of a pipelined loop: for commit groups of asynchronous copies, for the mbarriers of bulk tensor copies, for MMAs.

use super::buffers::{Buffers, shared_memory};
use crate::op::name::{arith, ttg, tw};
use crate::{Attribute, BuildError, FunctionBuilder, MemDescType, TileType, Value};
use tilewright_layout::FamilySpec;

use crate::LayoutName;

/// The attribute of a `tw.mbarrier_arrive` at which each warp arrives by itself, when all its lanes have come to it.
pub const EVERY_WARP: &str = "every_warp";

impl FunctionBuilder<'_> {
    /// Closes the commit group of the asynchronous copies that were issued.
    pub(in crate::transform) fn commit_group(&mut self) -> Result<(), BuildError> {
        self.op(ttg::ASYNC_COMMIT_GROUP).result(TileType::Token).done().map(drop)
    }

    /// Waits until at most so many commit groups are in flight.
    pub(in crate::transform) fn wait_for_groups(&mut self, outstanding: u32) -> Result<(), BuildError> {
        let outstanding = i32::try_from(outstanding).unwrap_or(0);
        self.op(ttg::ASYNC_WAIT).attribute("num", outstanding).result(TileType::Token).done().map(drop)
    }

    /// A barrier of the block, for shared memory.
    pub(super) fn barrier(&mut self) -> Result<(), BuildError> {
        self.op(ttg::BARRIER).attribute("addrSpace", Attribute::Word("local".into())).done().map(drop)
    }

    /// Waits for all MMAs but so many; in `values` the accumulators at some positions become those that the wait gives.
    pub(super) fn wait_for_mmas(
        &mut self,
        values: &mut [Value],
        accumulators: &[usize],
        outstanding: usize,
    ) -> Result<(), BuildError> {
        if accumulators.is_empty() {
            return Ok(());
        }
        let inputs: Vec<Value> = accumulators.iter().map(|number| values[*number]).collect();
        let types: Vec<TileType> = inputs.iter().map(|input| self.ty(*input).clone()).collect();
        let made = self.op(tw::AWAIT_PRODUCTS).operands("inputs", &inputs);
        let made = made.results(types).attribute("outstanding", i32::try_from(outstanding).unwrap_or(0)).values()?;
        accumulators.iter().zip(&*made).for_each(|(number, value)| values[*number] = *value);
        Ok(())
    }
}

/// The mbarriers of a stream's buffers. Each has a phase for each iteration that fills its buffer, which completes when the bytes
/// of that iteration have arrived; so a loop carries the parity of the phase beside the index of the buffer.
pub(super) struct Mbarriers {
    full: Buffers,
    /// The mbarriers at which consumer warps arrive when they have read a buffer, if a producer warp fills it.
    empty: Option<Buffers>,
    bytes: u64,
}

impl Mbarriers {
    /// Allocates and initializes the mbarriers of so many buffers, before the loop.
    pub fn allocate(
        buffers: u32,
        consumers: Option<u32>,
        bytes: u64,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<Self, BuildError> {
        let full = initialized(buffers, 1, to)?;
        let empty = consumers.map(|consumers| initialized(buffers, consumers, to)).transpose()?;
        Ok(Self { full, empty, bytes })
    }

    /// The mbarrier of a buffer, after it was told which bytes arrive there.
    pub fn expect(&self, index: Value, to: &mut FunctionBuilder<'_>) -> Result<Option<Value>, BuildError> {
        let mbarrier = self.full.at(Some(index), to)?;
        let bytes = i32::try_from(self.bytes).unwrap_or(i32::MAX);
        let made = to.op(tw::MBARRIER_EXPECT).operands("mbarrier", mbarrier.as_slice());
        made.attribute("bytes", bytes).done()?;
        Ok(mbarrier)
    }

    /// Waits for the bytes of a buffer.
    pub fn wait_until_full(&self, index: Value, phase: Value, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        wait(&self.full, index, phase, to)
    }

    /// Waits until all consumer warps have read a buffer; at first it is empty, in the phase before the first.
    pub fn wait_until_empty(&self, index: Value, phase: Value, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        let Some(empty) = &self.empty else { return Ok(()) };
        let one = to.word(1)?;
        let before = to.binary(arith::XORI, phase, one)?;
        wait(empty, index, before, to)
    }

    /// Lets each warp by itself say that it has read a buffer, if `predicate` holds.
    pub fn release(
        &self,
        index: Value,
        predicate: Option<Value>,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<(), BuildError> {
        let Some(empty) = &self.empty else { return Ok(()) };
        let mbarrier = empty.at(Some(index), to)?;
        let made = to.op(tw::MBARRIER_ARRIVE).operands("mbarrier", mbarrier.as_slice());
        let made = made.operands("acts", predicate.as_slice()).attribute("count", 1);
        made.attribute(EVERY_WARP, Attribute::Unit).done().map(drop)
    }
}

impl FunctionBuilder<'_> {
    /// The parity of the next buffer's phase: it changes behind the last buffer.
    pub(super) fn next_phase(&mut self, index: Value, phase: Value, buffers: u32) -> Result<Value, BuildError> {
        let [last, one] = [self.word(buffers - 1)?, self.word(1)?];
        let is_last = self.compare("eq", index, last)?;
        let other = self.binary(arith::XORI, phase, one)?;
        self.select(is_last, other, phase)
    }
}

/// An mbarrier for each buffer, of so many arrivals.
fn initialized(buffers: u32, arrivals: u32, to: &mut FunctionBuilder<'_>) -> Result<Buffers, BuildError> {
    let spec = FamilySpec::new("swizzled_shared").with("vec", 1).with("per_phase", 1).with("max_phase", 1);
    let spec = spec.with("order", [0i64]);
    let layout = LayoutName::new(spec, "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>");
    let (shape, element) = (vec![1], TileType::integer(64));
    let one = MemDescType { shape, element, layout, space: shared_memory(), mutable: true, allocation: None };
    let all = Buffers::allocate(one, buffers, to)?;
    for number in 0..buffers {
        let number = to.word(number)?;
        let mbarrier = all.at(Some(number), to)?;
        let count = i32::try_from(arrivals).unwrap_or(i32::MAX);
        let made = to.op(tw::MBARRIER_INIT).operands("mbarrier", mbarrier.as_slice());
        made.attribute("count", count).done()?;
    }
    Ok(all)
}

fn wait(mbarriers: &Buffers, index: Value, phase: Value, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
    let mbarrier = mbarriers.at(Some(index), to)?;
    let made = to.op(tw::MBARRIER_WAIT).operands("mbarrier", mbarrier.as_slice());
    made.operands("phase", &[phase]).done().map(drop)
}
