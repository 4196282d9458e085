//! Emits the pipelined loop itself and its epilogue: the waits, the prefetches and the other operations of an iteration.

use super::expand::{Pipeline, Prefetch, Source};
use super::position::{Position, Prefetched};
use super::schedule::Stream;
use crate::Value;
use crate::transform::{IrCloner, Rewritten};

impl Pipeline<'_> {
    /// Emits the loop and the epilogue, with `first` as the initial states of the streams.
    ///
    /// Returns the results of the emitted loop; the first ones are the results of the program's loop for the
    /// loop-carried values of `rest`.
    pub(super) fn looped(
        &self,
        first: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        self.order.iter().try_for_each(|order| order.emit_wait(cloner.to))?;
        let rest = &self.schedule.rest;
        let accumulators = &self.schedule.asynchronous_accumulators;
        let mut initial: Vec<Value> = rest.carried.iter().map(|ordinal| self.bounds.initial[ordinal - 1]).collect();
        initial.extend(first.iter().flat_map(Position::values));
        let (region, around, arguments) = self.bounds.enter(&initial, cloner);
        let positions = self.positions_in_iteration(first, &arguments, cloner)?;
        self.wait(&positions, cloner)?;
        let early = self.prefetch_later_iterations(&positions, |stream| self.is_early(stream), front, cloner)?;
        let mut given = self.clone_iteration(&positions, &arguments, front, cloner)?;
        let prefetched = self.finish_iteration(&positions, early, &mut given, front, cloner)?;
        self.release(&positions, arguments[0], cloner)?;
        for ((ordinal, position), of_stream) in positions.iter().enumerate().zip(prefetched) {
            given.extend(self.advanced(ordinal, position, of_stream, cloner)?.values());
        }
        let mut results = self.bounds.close(region, around, &initial, &given, cloner)?;
        front.read(&[], cloner);
        // The MMAs of the next group queue behind those in flight.
        self.order.iter().try_for_each(|order| order.emit_signal(cloner.to))?;
        cloner.to.wait_for_mmas(&mut results, accumulators, 0)?;
        if self.schedule.streams.iter().any(|stream| stream.has_copies) {
            // The buffers end their lifetime here, so that later operations may use their addresses.
            cloner.to.wait_for_groups(0)?;
        }
        Ok(results)
    }

    /// Returns the states of the streams in an iteration of the emitted loop, whose block has the arguments `arguments`.
    fn positions_in_iteration(
        &self,
        first: &[Position],
        arguments: &[Value],
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Position>> {
        let mut beside = arguments[1 + self.schedule.rest.carried.len()..].iter().copied();
        let positions: Option<Vec<Position>> =
            first.iter().map(|position| position.with_arguments(&mut beside)).collect();
        let mut positions = positions.unwrap_or_default();
        let not_carried = positions.iter_mut().filter_map(|position| position.prefetch_iteration.as_mut());
        for iteration in not_carried.filter(|iteration| !iteration.carries_existence) {
            iteration.exists = self.bounds.emit_has_next(arguments[0], cloner)?;
        }
        Ok(positions)
    }

    /// Whether a stream is prefetched at the start of an iteration, not at its end.
    fn is_early(&self, stream: &Stream) -> bool {
        !self.schedule.prefetches_last || stream.has_loads
    }

    /// Clones the operations of an iteration that are not prefetched. Returns the loop-carried values that it yields.
    fn clone_iteration(
        &self,
        positions: &[Position],
        arguments: &[Value],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        let rest = &self.schedule.rest;
        let own = cloner.from.arguments(self.bounds.block);
        cloner.bind(own[0], arguments[0]);
        for (ordinal, argument) in rest.carried.iter().zip(&arguments[1..]) {
            cloner.bind(own[*ordinal], *argument);
        }
        front.read(&positions.iter().map(|position| position.source.clone()).collect::<Vec<_>>(), cloner);
        rest.ops.iter().try_for_each(|op| cloner.rewrite_or_clone_op(*op, front))?;
        let yielded = self.bounds.yielded_clones(cloner);
        Ok(rest.carried.iter().map(|ordinal| yielded[ordinal - 1]).collect())
    }

    /// Emits the end of an iteration: stores of the values that `early` loads, prefetches that come last, and the wait
    /// for MMAs, which changes the accumulators among the yielded values `given`. Returns all prefetches of the
    /// iteration.
    fn finish_iteration(
        &self,
        positions: &[Position],
        early: Vec<Option<Prefetched>>,
        given: &mut [Value],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Option<Prefetched>>> {
        let accumulators = &self.schedule.asynchronous_accumulators;
        if self.schedule.prefetches_last {
            cloner.to.wait_for_mmas(given, accumulators, self.schedule.asynchronous_dots)?;
        }
        if self.schedule.streams.iter().any(|stream| stream.has_loads && stream.buffers == stream.distance) {
            cloner.to.barrier()?;
        }
        for (ordinal, of_stream) in early.iter().enumerate() {
            let Some(Prefetched { loaded, values, .. }) = of_stream else { continue };
            values.iter().for_each(|(value, copy)| cloner.bind(*value, *copy));
            self.store(ordinal, loaded, true, front, cloner)?;
        }
        if !self.schedule.prefetches_last {
            cloner.to.wait_for_mmas(given, accumulators, self.schedule.asynchronous_dots)?;
            return Ok(early);
        }
        if !(self.schedule.mma_waits_cover_block && self.starts_with_barrier()) {
            cloner.to.barrier()?;
        }
        let later = self.prefetch_later_iterations(positions, |stream| !self.is_early(stream), front, cloner)?;
        Ok(early.into_iter().zip(later).map(|(early, later)| early.or(later)).collect())
    }

    /// Emits the prefetches of an iteration for the selected streams, and returns an entry for each stream.
    ///
    /// An entry is `None` if the stream is not selected, or if a producer warp prefetches.
    fn prefetch_later_iterations(
        &self,
        positions: &[Position],
        is_selected: impl Fn(&Stream) -> bool,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Option<Prefetched>>> {
        let mut prefetched = Vec::new();
        for (position, stream) in positions.iter().zip(&self.schedule.streams) {
            let ordinal = prefetched.len();
            let prefetch_iteration = position.prefetch_iteration.as_ref().filter(|_| is_selected(stream));
            let Some(prefetch_iteration) = prefetch_iteration else {
                prefetched.push(None);
                continue;
            };
            if stream.buffers == 0 {
                self.emit_early_uses(positions, front, cloner)?;
            }
            let index = match (position.filled, &position.source) {
                (Some(index), _) => index,
                (None, Source::Buffer(index)) => {
                    cloner.to.later_index(*index, stream.distance % stream.buffers.max(1), stream.buffers)?
                }
                (None, Source::Values(_)) => cloner.to.constant_i32(0)?,
            };
            let (loaded, next) = self.prefetch(ordinal, prefetch_iteration, index, front, cloner)?;
            prefetched.push(Some(Prefetched {
                loaded,
                next,
                values: self.bounds.slice_bindings(&stream.slice, cloner),
            }));
        }
        Ok(prefetched)
    }

    /// Emits the uses of values in registers that precede the prefetches of the next ones.
    fn emit_early_uses(
        &self,
        positions: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        front.read(&positions.iter().map(|position| position.source.clone()).collect::<Vec<_>>(), cloner);
        self.schedule.early_uses.iter().try_for_each(|op| cloner.rewrite_or_clone_op(*op, front))?;
        front.read(&[], cloner);
        Ok(())
    }

    /// Emits the waits until the buffers of this iteration are filled.
    ///
    /// Without a producer warp, it also waits until all warps have read the buffers of the previous iteration. If
    /// copies come last, a barrier precedes them. The start of the iteration then needs another one only for
    /// asynchronous copies, since each lane waits for its own, and for stores.
    fn wait(&self, positions: &[Position], cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        for (position, mbarriers) in positions.iter().zip(self.mbarriers) {
            if let (Some(phase), Some(mbarriers), Some(index)) =
                (position.phase, mbarriers, position.source.buffer_index())
            {
                mbarriers.emit_wait_until_full(index, phase, cloner.to)?;
            }
        }
        let has_buffers = self.schedule.streams.iter().any(|stream| stream.buffers > 0);
        if self.schedule.producer.is_some() || !has_buffers {
            return Ok(());
        }
        let copies = self.schedule.streams.iter().find(|stream| stream.has_copies);
        if let Some(stream) = copies {
            cloner.to.wait_for_groups(stream.distance - 1)?;
        }
        match self.starts_with_barrier() {
            true => Ok(cloner.to.barrier()?),
            false => Ok(()),
        }
    }

    /// Whether an iteration with buffers begins with a barrier, behind its waits.
    fn starts_with_barrier(&self) -> bool {
        let needs_barrier = |stream: &Stream| stream.has_copies || stream.has_loads && stream.buffers > 0;
        !self.schedule.prefetches_last || self.schedule.streams.iter().any(needs_barrier)
    }

    /// Emits the signal that a consumer warp has read the buffer of this iteration.
    ///
    /// If MMAs are in flight across the end of an iteration, it is the buffer of the previous iteration, and the first
    /// iteration sends no signal.
    fn release(&self, positions: &[Position], counter: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        if self.schedule.producer.is_none() {
            return Ok(());
        }
        for ((stream, position), mbarriers) in self.schedule.streams.iter().zip(positions).zip(self.mbarriers) {
            let (Some(mbarriers), Some(index)) = (mbarriers, position.source.buffer_index()) else { continue };
            let (mut index, mut predicate) = (index, None);
            if !self.schedule.asynchronous_accumulators.is_empty() {
                index = cloner.to.previous_index(index, stream.buffers)?;
                predicate = Some(cloner.to.compare("sgt", counter, self.bounds.begin)?);
            }
            mbarriers.emit_release(index, predicate, cloner.to)?;
        }
        Ok(())
    }

    /// Emits, behind a loop within another, the signal that a consumer warp has read the buffer of the last iteration if
    /// MMAs were in flight across its end. `last` are the states of the streams behind the loop.
    pub(super) fn release_last(&self, last: &[Position], cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        if self.schedule.asynchronous_accumulators.is_empty() {
            return Ok(());
        }
        let is_entered = self.bounds.emit_is_entered(cloner)?;
        for ((stream, position), mbarriers) in self.schedule.streams.iter().zip(last).zip(self.mbarriers) {
            let (Some(mbarriers), Some(index)) = (mbarriers, position.source.buffer_index()) else { continue };
            let index = cloner.to.previous_index(index, stream.buffers)?;
            mbarriers.emit_release(index, Some(is_entered), cloner.to)?;
        }
        Ok(())
    }

    /// Emits the state of a stream at the next iteration, given its state `position` at this one.
    ///
    /// `prefetched` is the prefetch that this iteration has issued; `None` without one.
    pub(super) fn advanced(
        &self,
        stream: usize,
        position: &Position,
        prefetched: Option<Prefetched>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Position> {
        let buffers = self.schedule.streams[stream].buffers;
        let (prefetch_iteration, loaded) = prefetched.map(|prefetched| (prefetched.next, prefetched.loaded)).unzip();
        let Source::Buffer(index) = position.source else {
            let source = Source::Values(loaded.map(|loaded| loaded.values).unwrap_or_default());
            return Ok(Position { prefetch_iteration, source, filled: None, phase: None });
        };
        let source = Source::Buffer(cloner.to.next_index(index, buffers)?);
        let phase = position.phase.map(|phase| cloner.to.next_phase(index, phase, buffers)).transpose()?;
        Ok(Position { prefetch_iteration, source, filled: position.filled.map(|_| index), phase })
    }
}
