//! Expands a loop by its schedule: prologue, loop, epilogue.
//!
//! An iteration waits for its own buffers, then prefetches for a later iteration, then executes the rest. The barrier behind the
//! wait also separates what the iteration before has read from what is now prefetched into the same buffer, so that there is one
//! barrier in an iteration. A stream through registers is loaded at the beginning of an iteration and stored at its end, so that
//! nothing waits for global memory in between.
//!
//! If MMAs are still executed when the next iteration begins, that one waits for them at its end: their buffer is the one that is
//! filled after it, so that prefetches are one iteration less ahead.
//!
//! With a producer warp the loop is there twice. The producer waits until a buffer is empty, and issues the bulk tensor copies of
//! the next iteration. The consumers wait for the bytes, and each warp by itself says when it has read a buffer. There is no
//! barrier in an iteration: warps may be as many iterations apart as there are buffers.

use super::iteration::{Bounds, Iteration};
use super::schedule::{Schedule, Stream};
use super::waits::Mbarriers;
use crate::op::name::{scf, ttg};
use crate::transform::copy::Rewrite;
use crate::transform::{Copier, Rewritten};
use crate::{Attribute, Region, TileType, Value, Values};

/// Writes the prefetches of a loop, and by [`Rewrite`] the rest of its iteration. The loop's own values stand for those of the
/// iteration that is meant.
pub(in crate::transform) trait Prefetch: Rewrite {
    /// Issues the copies of a stream into the buffers of an index; bulk tensor copies arrive at `mbarrier`.
    fn copy(
        &mut self,
        stream: usize,
        index: Value,
        mbarrier: Option<Value>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()>;

    /// Loads what goes through registers.
    fn load(&mut self, stream: usize, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Values>;

    /// Stores what was loaded into the buffers of an index; it is zeros if the iteration, by the bit beside it, does not exist. If `is_disjoint`, no other access of these is between the barriers
    /// before and behind the store.
    fn store(
        &mut self,
        stream: usize,
        values: &[Value],
        index_and_existence: [Value; 2],
        is_disjoint: bool,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()>;

    /// Says which buffer of each stream the operations mean that follow; behind the loop none.
    fn read(&mut self, indices: &[Value], copier: &Copier<'_, '_, '_>);
}

/// Writes a loop, and binds its results.
pub(in crate::transform) fn expand(
    schedule: &Schedule,
    front: &mut dyn Prefetch,
    copier: &mut Copier<'_, '_, '_>,
) -> Rewritten<()> {
    let pipeline = Pipeline::new(schedule, copier)?;
    let results = match schedule.consumers {
        None => {
            let first = pipeline.prologue(front, copier)?;
            pipeline.looped(&first, front, copier)?
        }
        Some(_) => pipeline.specialized(front, copier)?,
    };
    let all = &copier.from.op(schedule.op).results;
    for (number, result) in schedule.rest.carried.iter().zip(results) {
        copier.bind(all[number - 1], result);
    }
    Ok(())
}

struct Pipeline<'s> {
    schedule: &'s Schedule,
    bounds: Bounds,
    /// Of each stream, if bulk tensor copies fill its buffers.
    mbarriers: Vec<Option<Mbarriers>>,
}

/// Where a stream is, as the loop carries it.
#[derive(Clone)]
struct Position {
    /// The iteration that is prefetched next; None if a producer warp prefetches.
    ahead: Option<Iteration>,
    /// The index of the buffer that is read.
    index: Value,
    /// The index of the buffer that is filled, if it is the one that the iteration before has read, and not the other of two.
    filled: Option<Value>,
    /// The parity of the phase of that buffer's mbarrier, if it has one.
    phase: Option<Value>,
}

impl Position {
    fn values(&self) -> Vec<Value> {
        let ahead = self.ahead.iter().flat_map(Iteration::values);
        ahead.chain([self.index]).chain(self.filled).chain(self.phase).collect()
    }

    fn with_arguments(&self, arguments: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let ahead = match &self.ahead {
            Some(ahead) => Some(ahead.with_arguments(arguments)?),
            None => None,
        };
        let index = arguments.next()?;
        let filled = self.filled.and_then(|_| arguments.next());
        Some(Self { ahead, index, filled, phase: self.phase.and_then(|_| arguments.next()) })
    }
}

/// Values that an iteration loaded for a later one.
struct Loaded {
    values: Values,
    /// Whether there is that iteration.
    exists: Value,
    /// The buffers that they are for.
    index: Value,
}

impl<'s> Pipeline<'s> {
    fn new(schedule: &'s Schedule, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Self> {
        let bounds = Bounds::new(schedule.op, copier)?;
        let of = |stream: &Stream| {
            let allocate = || Mbarriers::allocate(stream.buffers, schedule.consumers, stream.tensor_bytes, copier.to);
            (stream.tensor_bytes > 0).then(allocate).transpose()
        };
        let mbarriers = schedule.streams.iter().map(of).collect::<Result<_, _>>()?;
        Ok(Self { schedule, bounds, mbarriers })
    }

    /// Prefetches the first iterations.
    fn prologue(&self, front: &mut dyn Prefetch, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Vec<Position>> {
        let mut positions = Vec::new();
        for (number, stream) in self.schedule.streams.iter().enumerate() {
            let mut ahead = self.bounds.first(&stream.slice, copier)?;
            for distance in 0..stream.distance {
                let index = copier.to.word(distance)?;
                let (loaded, next) = self.prefetch(number, &ahead, index, front, copier)?;
                // The first store comes behind what the memory held before.
                self.store(number, &loaded, distance > 0, front, copier)?;
                ahead = next;
            }
            positions.push(self.begin(number, Some(ahead), copier)?);
        }
        Ok(positions)
    }

    /// A stream whose first iteration reads the first buffer.
    fn begin(&self, stream: usize, ahead: Option<Iteration>, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Position> {
        let index = copier.to.word(0)?;
        let Stream { distance, buffers, .. } = self.schedule.streams[stream];
        let is_carried = ahead.is_some() && buffers > 2 && distance == buffers - 1;
        let filled = is_carried.then(|| copier.to.word(distance)).transpose()?;
        Ok(Position { ahead, index, filled, phase: self.mbarriers[stream].as_ref().map(|_| index) })
    }

    /// Issues the copies and loads of an iteration, and gives the one after it.
    fn prefetch(
        &self,
        number: usize,
        iteration: &Iteration,
        index: Value,
        front: &mut dyn Prefetch,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<(Loaded, Iteration)> {
        let stream = &self.schedule.streams[number];
        self.bounds.enter(&stream.slice, iteration, front, copier)?;
        if stream.has_copies || stream.tensor_bytes > 0 {
            copier.when(iteration.exists, |copier| {
                self.copy(number, index, front, copier)?;
                Ok(Values::new())
            })?;
        }
        if stream.has_copies {
            copier.to.commit_group()?;
        }
        let values = match stream.has_loads {
            true => copier.when(iteration.exists, |copier| front.load(number, copier))?,
            false => Values::new(),
        };
        let next = self.bounds.next(&stream.slice, iteration, copier)?;
        Ok((Loaded { values, exists: iteration.exists, index }, next))
    }

    fn copy(
        &self,
        number: usize,
        index: Value,
        front: &mut dyn Prefetch,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        let mbarriers = self.mbarriers[number].as_ref();
        let mbarrier = mbarriers.map(|all| all.expect(index, copier.to)).transpose()?.flatten();
        front.copy(number, index, mbarrier, copier)
    }

    fn store(
        &self,
        number: usize,
        loaded: &Loaded,
        is_disjoint: bool,
        front: &mut dyn Prefetch,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        let Loaded { values, exists, index } = loaded;
        if values.is_empty() {
            return Ok(());
        }
        front.store(number, values, [*index, *exists], is_disjoint, copier)
    }

    /// The loop, and behind it the epilogue; gives what it carries for the program.
    fn looped(
        &self,
        first: &[Position],
        front: &mut dyn Prefetch,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        let rest = &self.schedule.rest;
        let accumulators = &self.schedule.asynchronous_accumulators;
        let mut initial: Vec<Value> = rest.carried.iter().map(|number| self.bounds.initial[number - 1]).collect();
        initial.extend(first.iter().flat_map(Position::values));
        let (region, around, arguments) = self.enter(&initial, copier);
        let mut beside = arguments[1 + rest.carried.len()..].iter().copied();
        let positions: Option<Vec<Position>> =
            first.iter().map(|position| position.with_arguments(&mut beside)).collect();
        let positions = positions.unwrap_or_default();
        self.wait(&positions, copier)?;
        let mut prefetched = Vec::new();
        for (number, position) in positions.iter().enumerate() {
            let Some(ahead) = &position.ahead else { continue };
            let stream = &self.schedule.streams[number];
            let index = match position.filled {
                Some(index) => index,
                None => (stream.distance..stream.buffers)
                    .try_fold(position.index, |index, _| copier.to.previous_index(index, stream.buffers))?,
            };
            let (loaded, next) = self.prefetch(number, ahead, index, front, copier)?;
            prefetched.push((loaded, next, self.bounds.remembered(&stream.slice, copier)));
        }
        let own = copier.from.arguments(self.bounds.block);
        copier.bind(own[0], arguments[0]);
        for (number, argument) in rest.carried.iter().zip(&arguments[1..]) {
            copier.bind(own[*number], *argument);
        }
        front.read(&positions.iter().map(|position| position.index).collect::<Vec<_>>(), copier);
        rest.ops.iter().try_for_each(|op| copier.op(*op, front))?;
        let yielded = self.bounds.yielded(copier);
        let mut given: Vec<Value> = rest.carried.iter().map(|number| yielded[number - 1]).collect();
        for (number, (loaded, _, values)) in prefetched.iter().enumerate() {
            values.iter().for_each(|(value, copy)| copier.bind(*value, *copy));
            self.store(number, loaded, true, front, copier)?;
        }
        copier.to.wait_for_mmas(&mut given, accumulators, accumulators.len())?;
        self.release(&positions, arguments[0], copier)?;
        let mut next = prefetched.into_iter().map(|(_, next, _)| next);
        for (number, position) in positions.iter().enumerate() {
            given.extend(self.advanced(number, position, next.next(), copier)?.values());
        }
        let mut results = self.close(region, around, &initial, &given, copier)?;
        front.read(&[], copier);
        copier.to.wait_for_mmas(&mut results, accumulators, 0)?;
        if self.schedule.owns_buffers && self.schedule.streams.iter().any(|stream| stream.has_copies) {
            copier.to.wait_for_groups(0)?;
        }
        Ok(results)
    }

    /// Waits until the buffers of this iteration are filled and, without a producer warp, all warps have read those of the one
    /// before.
    fn wait(&self, positions: &[Position], copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        for (position, mbarriers) in positions.iter().zip(&self.mbarriers) {
            if let (Some(phase), Some(mbarriers)) = (position.phase, mbarriers) {
                mbarriers.wait_until_full(position.index, phase, copier.to)?;
            }
        }
        if self.schedule.consumers.is_some() {
            return Ok(());
        }
        if let Some(stream) = self.schedule.streams.iter().find(|stream| stream.has_copies) {
            copier.to.wait_for_groups(stream.distance - 1)?;
        }
        Ok(copier.to.barrier()?)
    }

    /// Lets consumer warps say which buffer they have read: this iteration's, or that of the one before, whose MMAs were waited for.
    fn release(&self, positions: &[Position], counter: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        if self.schedule.consumers.is_none() {
            return Ok(());
        }
        for ((stream, position), mbarriers) in self.schedule.streams.iter().zip(positions).zip(&self.mbarriers) {
            let Some(mbarriers) = mbarriers else { continue };
            let (mut index, mut predicate) = (position.index, None);
            if !self.schedule.asynchronous_accumulators.is_empty() {
                index = copier.to.previous_index(index, stream.buffers)?;
                predicate = Some(copier.to.compare("sgt", counter, self.bounds.begin)?);
            }
            mbarriers.release(index, predicate, copier.to)?;
        }
        Ok(())
    }

    /// Where a stream is in the next iteration.
    fn advanced(
        &self,
        stream: usize,
        position: &Position,
        ahead: Option<Iteration>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<Position> {
        let buffers = self.schedule.streams[stream].buffers;
        let index = copier.to.next_index(position.index, buffers)?;
        let phase = position.phase.map(|phase| copier.to.next_phase(position.index, phase, buffers)).transpose()?;
        Ok(Position { ahead, index, filled: position.filled.map(|_| position.index), phase })
    }

    /// Enters the body of the `scf.for` that begins with these values; gives its arguments, the counter first.
    fn enter(&self, initial: &[Value], copier: &mut Copier<'_, '_, '_>) -> (Region, crate::Block, Vec<Value>) {
        let all = std::iter::once(&self.bounds.begin).chain(initial);
        let types = all.map(|value| copier.to.ty(*value).clone()).collect();
        let (region, around) = copier.to.enter_region(types);
        let arguments = copier.to.block_arguments(copier.to.block()).to_vec();
        (region, around, arguments)
    }

    /// Ends the body of the `scf.for`, and adds it behind `around`; gives its results.
    fn close(
        &self,
        region: Region,
        around: crate::Block,
        initial: &[Value],
        given: &[Value],
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        copier.to.op(scf::YIELD).operands("results", given).done()?;
        copier.to.at(around);
        let Bounds { begin, end, step, .. } = self.bounds;
        let types: Vec<TileType> = initial.iter().map(|value| copier.to.ty(*value).clone()).collect();
        let made = copier.to.op(scf::FOR).operand(begin).operand(end).operand(step);
        let made = made.operands("initial", initial).made_region(region);
        let attributes = copier.from.op(self.schedule.op).attributes.iter();
        let made = made.results(types).attributes(attributes.map(|(name, value)| (name, value.clone())));
        Ok(made.values()?.to_vec())
    }

    /// The loop in two partitions: consumers execute it without its prefetches, the producer warp its prefetches alone.
    fn specialized(&self, front: &mut dyn Prefetch, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Vec<Value>> {
        let (consumers, around) = copier.to.enter_region(Vec::new());
        let first = (0..self.schedule.streams.len()).map(|stream| self.begin(stream, None, copier));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        let results = self.looped(&first, front, copier)?;
        let results = &results[..self.schedule.rest.carried.len()];
        let types: Vec<TileType> = results.iter().map(|value| copier.to.ty(*value).clone()).collect();
        copier.to.op(ttg::WARP_YIELD).operands("values", results).done()?;
        copier.to.at(around);
        let (producer, around) = copier.to.enter_region(Vec::new());
        self.produced(front, copier)?;
        copier.to.op(ttg::WARP_RETURN).done()?;
        copier.to.at(around);
        let made = copier.to.op(ttg::WARP_SPECIALIZE).made_region(consumers).made_region(producer);
        let warps = Attribute::Array(TileType::integer(32), vec![1]);
        Ok(made.results(types).attribute("partitionNumWarps", warps).values()?.to_vec())
    }

    /// The producer's loop.
    fn produced(&self, front: &mut dyn Prefetch, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let first = (0..self.schedule.streams.len()).map(|stream| self.begin(stream, None, copier));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        let initial: Vec<Value> = first.iter().flat_map(Position::values).collect();
        let (region, around, arguments) = self.enter(&initial, copier);
        copier.bind(copier.from.arguments(self.bounds.block)[0], arguments[0]);
        let mut beside = arguments[1..].iter().copied();
        let mut given = Vec::new();
        for (number, position) in first.iter().enumerate() {
            let Some(position) = position.with_arguments(&mut beside) else { continue };
            if let (Some(phase), Some(mbarriers)) = (position.phase, &self.mbarriers[number]) {
                mbarriers.wait_until_empty(position.index, phase, copier.to)?;
            }
            self.copy(number, position.index, front, copier)?;
            given.extend(self.advanced(number, &position, None, copier)?.values());
        }
        self.close(region, around, &initial, &given, copier).map(drop)
    }
}
