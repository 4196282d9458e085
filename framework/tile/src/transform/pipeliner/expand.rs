//! Expands a loop by its schedule: prologue, loop, epilogue.
//!
//! An iteration waits for its buffers, then issues the prefetch for a later iteration, then executes the rest. The
//! barrier behind the wait also protects the buffer of the iteration before, which the prefetch overwrites, so that an
//! iteration has one barrier. Prefetches through registers are loaded at the start of an iteration and stored at its
//! end, so that nothing in between waits for global memory. Without buffers the loop carries the loaded values to the
//! next iteration; arithmetic that uses them up comes before the loads of the next ones, which take their registers.
//!
//! With a single buffer, a second barrier precedes these stores, since other warps still read the buffer in the same
//! iteration.
//!
//! If MMAs of iteration i are still in flight when iteration i+1 begins, iteration i+1 waits for them at its end. There
//! are two alternatives to refill the buffer that they have read:
//!
//! - Iteration i+2 refills it at its start, behind the barrier there. The prefetch distance is then the number of
//!   buffers minus two, one less than otherwise.
//! - Iteration i+1 refills it at its end, after the wait. If a wait covers only the MMAs of the waiting thread's warps
//!   (PTX `wgmma`), a second barrier follows the wait, and the copies follow the barrier. If a wait covers the MMAs of
//!   all warps of the thread block (`tcgen05.mma`), no barrier is needed between wait and copies, provided that the
//!   iteration has one at its start. Values that iteration i+1 has loaded at its start are then stored after the wait.
//!
//! With a producer warp, the loop exists twice, and so do the loops around it. The producer waits until a buffer is empty, and issues the bulk tensor
//! copies of the next iteration. The consumers wait for the bytes, and each warp signals separately that it has read a
//! buffer. An iteration has no barrier: warps may be as many iterations apart as there are buffers.

use super::alternate_tiles::TileOrder;
use super::iteration::{Bounds, Iteration};
use super::position::{Loaded, Position};
use super::schedule::{Schedule, Stream};
use super::specialized::SpecializedLoop;
use super::waits::Mbarriers;
use crate::transform::ir_cloner::Rewrite;
use crate::transform::{IrCloner, Rewritten};
use crate::{Op, Value, Values};

/// Emits the prefetches of a loop, and, as a [`Rewrite`], the other operations of an iteration.
///
/// The front end implements it. When the pipeliner calls a method, the loop's values are bound to those of one
/// iteration, and the method emits operations for this iteration.
pub(in crate::transform) trait Prefetch: Rewrite {
    /// Emits what the loop reads and does not prefetch, directly before the loop of the warps that read it.
    fn begin(&mut self, _: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        Ok(())
    }

    /// Forgets the shared tensors that the loop over tiles `tiles` allocates, so that another group of consumer warps,
    /// whose operations follow, has its own.
    fn begin_group(&mut self, _tiles: Op, _: &IrCloner<'_, '_, '_>) {}

    /// Issues the copies of a stream (a group of prefetches with the same distance) into its buffers with the index
    /// `index`; bulk tensor copies arrive at `mbarrier`.
    fn copy(
        &mut self,
        stream: usize,
        index: Value,
        mbarrier: Option<Value>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()>;

    /// Emits the loads of a stream (a group of prefetches with the same distance) that goes through registers, and
    /// returns the loaded values.
    fn load(&mut self, stream: usize, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Values>;

    /// Emits the stores of loaded values into the buffers of a stream.
    ///
    /// `index_and_existence` is the buffer index, and an `i1` that is false if the loop lacks the iteration of the
    /// values: the values are then unspecified, and need not be stored. `is_disjoint` states that no other operation accesses
    /// these buffers between the barriers before and after the store.
    fn store(
        &mut self,
        stream: usize,
        values: &[Value],
        index_and_existence: [Value; 2],
        is_disjoint: bool,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()>;

    /// Sets the source from which [`Rewrite::rewrite`] reads the tensors of each stream, by stream index; empty after
    /// the loop.
    fn read(&mut self, sources: &[Source], cloner: &IrCloner<'_, '_, '_>);
}

/// The source of the tensors of a stream (a group of prefetches with the same distance) in an iteration.
#[derive(Debug, Clone)]
pub(in crate::transform) enum Source {
    /// In the buffers with this index.
    Buffer(Value),
    /// In registers, as these values.
    Values(Values),
}

impl Source {
    /// The index of the buffers; `None` if the tensors are in registers.
    pub fn buffer_index(&self) -> Option<Value> {
        match self {
            Self::Buffer(index) => Some(*index),
            Self::Values(_) => None,
        }
    }

    pub(super) fn values(&self) -> &[Value] {
        match self {
            Self::Buffer(index) => std::slice::from_ref(index),
            Self::Values(values) => values,
        }
    }
}

/// Emits the pipelined form of the loop `schedule.op`, with the loops `schedule.enclosing` around it, and binds the
/// results of the outermost one to the new values in `cloner`. `front` is the front end, which emits the prefetches and the operations of an iteration.
pub(in crate::transform) fn expand(
    schedule: &Schedule,
    front: &mut dyn Prefetch,
    cloner: &mut IrCloner<'_, '_, '_>,
) -> Rewritten<()> {
    let mbarriers = emit_mbarriers(schedule, cloner)?;
    if schedule.producer.is_some() {
        return SpecializedLoop { schedule, mbarriers: &mbarriers }.emit(front, cloner);
    }
    front.begin(cloner)?;
    let bounds = Bounds::new(schedule.op, cloner)?;
    let pipeline = Pipeline { schedule, bounds, mbarriers: &mbarriers, order: None };
    let first = pipeline.prologue(front, cloner)?;
    let results = pipeline.looped(&first, front, cloner)?;
    pipeline.invalidate_mbarriers(cloner)?;
    let all = &cloner.from.op(schedule.op).results;
    for (ordinal, result) in schedule.rest.carried.iter().zip(results) {
        cloner.bind(all[ordinal - 1], result);
    }
    Ok(())
}

/// Emits the mbarriers of each stream with bulk tensor copies.
fn emit_mbarriers(schedule: &Schedule, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Vec<Option<Mbarriers>>> {
    let consumers = schedule.producer.map(|warps| warps.consumers);
    let of = |stream: &Stream| {
        let allocate = || Mbarriers::emit_allocation(stream.buffers, consumers, stream.tensor_bytes, cloner.to);
        (stream.tensor_bytes > 0).then(allocate).transpose()
    };
    Ok(schedule.streams.iter().map(of).collect::<Result<_, _>>()?)
}

pub(super) struct Pipeline<'s> {
    pub schedule: &'s Schedule,
    pub bounds: Bounds,
    /// For each stream (a group of prefetches with the same distance), the mbarriers of its buffers; `None` without
    /// bulk tensor copies.
    pub mbarriers: &'s [Option<Mbarriers>],
    /// The order of the loop among those of several groups of consumer warps; `None` for one group.
    pub order: Option<TileOrder<'s>>,
}

impl Pipeline<'_> {
    /// Emits the end of the mbarriers if the loop is within another operation: another iteration of an enclosing loop
    /// initializes them again, or other data takes their place.
    fn invalidate_mbarriers(&self, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let entry = cloner.from.blocks(cloner.from.root());
        if entry.iter().any(|block| cloner.from.ops(*block).contains(&self.schedule.op)) {
            return Ok(());
        }
        Ok(self.mbarriers.iter().flatten().try_for_each(|mbarriers| mbarriers.emit_invalidation(cloner.to))?)
    }

    /// Emits the prologue, which prefetches the first iterations; returns the state of each stream at the first
    /// iteration.
    fn prologue(&self, front: &mut dyn Prefetch, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Vec<Position>> {
        let mut positions = Vec::new();
        for (ordinal, stream) in self.schedule.streams.iter().enumerate() {
            let mut prefetch_iteration = self.bounds.emit_first_iteration(stream, cloner)?;
            let mut carried = Values::new();
            for distance in 0..stream.distance {
                let index = cloner.to.constant_i32(distance)?;
                let (loaded, next) = self.prefetch(ordinal, &prefetch_iteration, index, front, cloner)?;
                // Other operations may access the memory before the first store, so this one is not marked as disjoint.
                self.store(ordinal, &loaded, distance > 0, front, cloner)?;
                (prefetch_iteration, carried) = (next, loaded.values);
            }
            let has_mbarriers = self.mbarriers[ordinal].is_some();
            let mut position = Position::emit_first(stream, has_mbarriers, Some(prefetch_iteration), cloner)?;
            if stream.buffers == 0 {
                position.source = Source::Values(carried);
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// Emits the prefetch of `iteration` for the stream `ordinal`, into the buffers with the index `index`.
    ///
    /// Returns the loaded values, which are not stored yet, and the iteration after `iteration`.
    pub(super) fn prefetch(
        &self,
        ordinal: usize,
        iteration: &Iteration,
        index: Value,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<(Loaded, Iteration)> {
        let stream = &self.schedule.streams[ordinal];
        self.bounds.emit_slice(&stream.slice, (iteration.counter, &iteration.carried), front, cloner)?;
        if stream.has_copies || stream.tensor_bytes > 0 {
            cloner.emit_if(iteration.exists, |cloner| {
                Bounds::emit_guarded(&stream.slice, cloner)?;
                self.copy(ordinal, index, front, cloner)?;
                Ok(Values::new())
            })?;
        }
        if stream.has_copies {
            cloner.to.commit_group()?;
        }
        let values = match stream.has_loads {
            true => cloner.emit_if(iteration.exists, |cloner| {
                Bounds::emit_guarded(&stream.slice, cloner)?;
                front.load(ordinal, cloner)
            })?,
            false => Values::new(),
        };
        let next = self.bounds.emit_next_iteration(&stream.slice, iteration, cloner)?;
        Ok((Loaded { values, exists: iteration.exists, index }, next))
    }

    pub(super) fn copy(
        &self,
        ordinal: usize,
        index: Value,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let mbarriers = self.mbarriers[ordinal].as_ref();
        let mbarrier = mbarriers.map(|all| all.emit_expect_bytes(index, cloner.to)).transpose()?.flatten();
        front.copy(ordinal, index, mbarrier, cloner)
    }

    pub(super) fn store(
        &self,
        ordinal: usize,
        loaded: &Loaded,
        is_disjoint: bool,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let Loaded { values, exists, index } = loaded;
        if values.is_empty() || self.schedule.streams[ordinal].buffers == 0 {
            return Ok(());
        }
        front.store(ordinal, values, [*index, *exists], is_disjoint, cloner)
    }
}
