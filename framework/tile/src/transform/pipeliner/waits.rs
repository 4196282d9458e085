//! Emits the waits of a pipelined loop: for commit groups of asynchronous copies, mbarriers of bulk tensor copies, and
//! MMAs.

use super::buffers::{Buffers, shared_memory};
use crate::op::name::{arith, ttg, tw};
use crate::{Attribute, BuildError, FunctionBuilder, MemDescType, TileType, Value};
use tilewright_layout::FamilySpec;

use crate::LayoutAttribute;

/// The attribute of a `tw.mbarrier_arrive` that makes each warp arrive separately, after all lanes of the warp.
pub const ARRIVE_PER_WARP: &str = "every_warp";

impl FunctionBuilder<'_> {
    /// Emits a commit: the asynchronous copies issued since the last commit form a group.
    pub(in crate::transform) fn commit_group(&mut self) -> Result<(), BuildError> {
        self.build_op(ttg::ASYNC_COMMIT_GROUP).result(TileType::Token).build().map(drop)
    }

    /// Emits a wait until at most `outstanding` commit groups are in flight.
    pub(in crate::transform) fn wait_for_groups(&mut self, outstanding: u32) -> Result<(), BuildError> {
        let outstanding = i32::try_from(outstanding).unwrap_or(0);
        self.build_op(ttg::ASYNC_WAIT).attribute("num", outstanding).result(TileType::Token).build().map(drop)
    }

    /// Emits a barrier of the block, for accesses of shared memory.
    pub(in crate::transform) fn barrier(&mut self) -> Result<(), BuildError> {
        self.build_op(ttg::BARRIER).attribute("addrSpace", Attribute::Keyword("local".into())).build().map(drop)
    }

    /// Emits a wait until at most `outstanding` MMAs are in flight.
    ///
    /// In `values`, the wait's results replace the accumulators, which are at the positions `accumulators`; without
    /// any, nothing is emitted.
    pub(super) fn wait_for_mmas(
        &mut self,
        values: &mut [Value],
        accumulators: &[usize],
        outstanding: usize,
    ) -> Result<(), BuildError> {
        if accumulators.is_empty() {
            return Ok(());
        }
        let inputs: Vec<Value> = accumulators.iter().map(|ordinal| values[*ordinal]).collect();
        let types: Vec<TileType> = inputs.iter().map(|input| self.ty(*input).clone()).collect();
        let new_op = self.build_op(tw::MMA_WAIT).operands("inputs", &inputs);
        let waited =
            new_op.results(types).attribute("outstanding", i32::try_from(outstanding).unwrap_or(0)).values()?;
        accumulators.iter().zip(&*waited).for_each(|(ordinal, value)| values[*ordinal] = *value);
        Ok(())
    }
}

/// The mbarriers of a stream's buffers, one for each buffer.
///
/// A phase completes when the bytes for the buffer have arrived. The loop carries the parity of the phase along with
/// the index of the buffer.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Mbarriers {
    full: Buffers,
    /// The mbarriers at which a consumer warp arrives after it has read a buffer; `None` without a producer warp.
    empty: Option<Buffers>,
    bytes: u64,
}

impl Mbarriers {
    /// Emits the allocation and initialization of mbarriers for `buffers` buffers, before the loop.
    ///
    /// `consumers` is the number of consumer warps, `None` without a producer warp; `bytes` arrive in each buffer.
    pub fn emit_allocation(
        buffers: u32,
        consumers: Option<u32>,
        bytes: u64,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<Self, BuildError> {
        let full = initialized(buffers, 1, to)?;
        let empty = consumers.map(|consumers| initialized(buffers, consumers, to)).transpose()?;
        Ok(Self { full, empty, bytes })
    }

    /// Emits an arrival that announces the bytes of the buffer with this index; returns the buffer's mbarrier.
    pub fn emit_expect_bytes(&self, index: Value, to: &mut FunctionBuilder<'_>) -> Result<Option<Value>, BuildError> {
        let mbarrier = self.full.emit_view(Some(index), to)?;
        let bytes = i32::try_from(self.bytes).unwrap_or(i32::MAX);
        let new_op = to.build_op(tw::MBARRIER_EXPECT).operands("mbarrier", mbarrier.as_slice());
        new_op.attribute("bytes", bytes).build()?;
        Ok(mbarrier)
    }

    /// Emits the end of all mbarriers, after all waits.
    pub fn emit_invalidation(&self, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        for all in std::iter::once(&self.full).chain(&self.empty) {
            for ordinal in 0..all.count {
                let ordinal = to.constant_i32(ordinal)?;
                let mbarrier = all.emit_view(Some(ordinal), to)?;
                to.build_op(tw::MBARRIER_INVALIDATE).operands("mbarrier", mbarrier.as_slice()).build()?;
            }
        }
        Ok(())
    }

    /// Emits a wait for the bytes of the buffer with this index; `phase` is the parity of the phase.
    pub fn emit_wait_until_full(
        &self,
        index: Value,
        phase: Value,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<(), BuildError> {
        wait(&self.full, index, phase, to)
    }

    /// Emits a wait until all consumer warps have read the buffer with this index.
    ///
    /// It waits for the phase before `phase`; at first, no such phase exists, and it counts as complete.
    pub fn emit_wait_until_empty(
        &self,
        index: Value,
        phase: Value,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<(), BuildError> {
        let Some(empty) = &self.empty else { return Ok(()) };
        let one = to.constant_i32(1)?;
        let before = to.binary(arith::XORI, phase, one)?;
        wait(empty, index, before, to)
    }

    /// Emits the signal that a warp has read the buffer with this index, if `predicate` is true or `None`.
    ///
    /// Each warp sends it separately.
    pub fn emit_release(
        &self,
        index: Value,
        predicate: Option<Value>,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<(), BuildError> {
        self.empty.as_ref().map_or(Ok(()), |empty| empty.emit_arrival_per_warp(index, predicate, to))
    }
}

impl FunctionBuilder<'_> {
    /// Emits the parity of the phase of the buffer after `index`: it flips after the last of `buffers` buffers.
    pub(super) fn next_phase(&mut self, index: Value, phase: Value, buffers: u32) -> Result<Value, BuildError> {
        let [last, one] = [self.constant_i32(buffers - 1)?, self.constant_i32(1)?];
        let is_last = self.compare("eq", index, last)?;
        let other = self.binary(arith::XORI, phase, one)?;
        self.select(is_last, other, phase)
    }
}

impl Buffers {
    /// Emits an arrival of each warp at the mbarrier with this index, if `predicate` is true or `None`.
    pub(super) fn emit_arrival_per_warp(
        &self,
        index: Value,
        predicate: Option<Value>,
        to: &mut FunctionBuilder<'_>,
    ) -> Result<(), BuildError> {
        let mbarrier = self.emit_view(Some(index), to)?;
        let new_op = to.build_op(tw::MBARRIER_ARRIVE).operands("mbarrier", mbarrier.as_slice());
        let new_op = new_op.operands("pred", predicate.as_slice()).attribute("count", 1);
        new_op.attribute(ARRIVE_PER_WARP, Attribute::Unit).build().map(drop)
    }
}

/// Allocates an mbarrier for each buffer, and initializes each with a number of arrivals.
pub(super) fn initialized(buffers: u32, arrivals: u32, to: &mut FunctionBuilder<'_>) -> Result<Buffers, BuildError> {
    let spec = FamilySpec::new("swizzled_shared")
        .with_parameter("vec", 1)
        .with_parameter("per_phase", 1)
        .with_parameter("max_phase", 1);
    let spec = spec.with_parameter("order", [0i64]);
    let layout = LayoutAttribute::new(spec, "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>");
    let (shape, element) = (vec![1], TileType::integer(64));
    let one = MemDescType { shape, element, layout, space: shared_memory(), mutable: true, allocation: None };
    let all = Buffers::emit_allocation(one, buffers, to)?;
    for ordinal in 0..buffers {
        let ordinal = to.constant_i32(ordinal)?;
        let mbarrier = all.emit_view(Some(ordinal), to)?;
        let count = i32::try_from(arrivals).unwrap_or(i32::MAX);
        let new_op = to.build_op(tw::MBARRIER_INIT).operands("mbarrier", mbarrier.as_slice());
        new_op.attribute("count", count).build()?;
    }
    Ok(all)
}

/// Emits a wait at the mbarrier with this index, for the phase of this parity.
pub(super) fn wait(
    mbarriers: &Buffers,
    index: Value,
    phase: Value,
    to: &mut FunctionBuilder<'_>,
) -> Result<(), BuildError> {
    let mbarrier = mbarriers.emit_view(Some(index), to)?;
    let new_op = to.build_op(tw::MBARRIER_WAIT).operands("mbarrier", mbarrier.as_slice());
    new_op.operands("phase", &[phase]).build().map(drop)
}
