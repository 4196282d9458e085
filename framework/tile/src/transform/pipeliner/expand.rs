//! Expands a loop by its schedule: prologue, loop, epilogue.
//!
//! An iteration waits for its buffers, then issues the prefetch for a later iteration, then executes the rest. The
//! barrier behind the wait also protects the buffer of the iteration before, which the prefetch overwrites, so that an
//! iteration has one barrier. Prefetches through registers are loaded at the start of an iteration and stored at its
//! end, so that nothing in between waits for global memory. Without buffers the loop carries the loaded values to the
//! next iteration.
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
//! With a producer warp, the loop exists twice. The producer waits until a buffer is empty, and issues the bulk tensor
//! copies of the next iteration. The consumers wait for the bytes, and each warp signals separately that it has read a
//! buffer. An iteration has no barrier: warps may be as many iterations apart as there are buffers.

use super::iteration::{Bounds, Iteration};
use super::schedule::{Schedule, Stream};
use super::waits::Mbarriers;
use crate::op::name::{scf, ttg};
use crate::transform::ir_cloner::Rewrite;
use crate::transform::{IrCloner, Rewritten};
use crate::{Attribute, Region, TileType, Value, Values};

/// Emits the prefetches of a loop, and, as a [`Rewrite`], the other operations of an iteration.
///
/// The front end implements it. When the pipeliner calls a method, the loop's values are bound to those of one
/// iteration, and the method emits operations for this iteration.
pub(in crate::transform) trait Prefetch: Rewrite {
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

    fn values(&self) -> &[Value] {
        match self {
            Self::Buffer(index) => std::slice::from_ref(index),
            Self::Values(values) => values,
        }
    }
}

/// Emits the pipelined form of the loop `schedule.op`, and binds the results of that loop to the new values in
/// `cloner`. `front` is the front end, which emits the prefetches and the operations of an iteration.
pub(in crate::transform) fn expand(
    schedule: &Schedule,
    front: &mut dyn Prefetch,
    cloner: &mut IrCloner<'_, '_, '_>,
) -> Rewritten<()> {
    let pipeline = Pipeline::new(schedule, cloner)?;
    let results = match schedule.producer {
        None => {
            let first = pipeline.prologue(front, cloner)?;
            pipeline.looped(&first, front, cloner)?
        }
        Some(_) => pipeline.specialized(front, cloner)?,
    };
    let all = &cloner.from.op(schedule.op).results;
    for (ordinal, result) in schedule.rest.carried.iter().zip(results) {
        cloner.bind(all[ordinal - 1], result);
    }
    Ok(())
}

struct Pipeline<'s> {
    schedule: &'s Schedule,
    bounds: Bounds,
    /// For each stream (a group of prefetches with the same distance), the mbarriers of its buffers; `None` without
    /// bulk tensor copies.
    mbarriers: Vec<Option<Mbarriers>>,
}

/// The state of a stream (a group of prefetches with the same distance) at the start of an iteration, which the loop
/// carries.
#[derive(Clone)]
struct Position {
    /// The iteration to prefetch next; `None` if a producer warp does the prefetching.
    prefetch_iteration: Option<Iteration>,
    /// The buffers or loaded values that this iteration reads.
    source: Source,
    /// The index of the buffer that this iteration fills, if the loop carries it: the buffer that the previous
    /// iteration read.
    ///
    /// The loop carries it if it prefetches without a producer warp, there are more than two buffers, and the prefetch
    /// distance is the number of buffers minus one. Otherwise it is `None`, and the index follows from the index of the
    /// buffer to read.
    filled: Option<Value>,
    /// The parity of the phase of its buffer's mbarrier for which this iteration waits; `None` without bulk tensor
    /// copies.
    phase: Option<Value>,
}

impl Position {
    fn values(&self) -> Vec<Value> {
        let prefetch_iteration = self.prefetch_iteration.iter().flat_map(Iteration::values);
        let source = self.source.values().iter().copied();
        prefetch_iteration.chain(source).chain(self.filled).chain(self.phase).collect()
    }

    fn with_arguments(&self, arguments: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let prefetch_iteration = match &self.prefetch_iteration {
            Some(prefetch_iteration) => Some(prefetch_iteration.with_arguments(arguments)?),
            None => None,
        };
        let source = match &self.source {
            Source::Buffer(_) => Source::Buffer(arguments.next()?),
            Source::Values(values) => Source::Values(arguments.take(values.len()).collect()),
        };
        let filled = self.filled.and_then(|_| arguments.next());
        Some(Self { prefetch_iteration, source, filled, phase: self.phase.and_then(|_| arguments.next()) })
    }
}

/// A prefetch of a stream (a group of prefetches with the same distance) that an iteration has issued.
struct Prefetched {
    loaded: Loaded,
    /// The iteration to prefetch next.
    next: Iteration,
    /// Pairs of the loop's values and their clones for the prefetched iteration, to bind them before the store.
    values: Vec<(Value, Value)>,
}

/// Values that one iteration has loaded for a later one.
struct Loaded {
    values: Values,
    /// Whether that later iteration exists.
    exists: Value,
    /// The index of the buffers into which the values will be stored.
    index: Value,
}

impl<'s> Pipeline<'s> {
    fn new(schedule: &'s Schedule, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Self> {
        let bounds = Bounds::new(schedule.op, cloner)?;
        let of = |stream: &Stream| {
            let allocate = || {
                Mbarriers::emit_allocation(
                    stream.buffers,
                    schedule.producer.map(|warps| warps.consumers),
                    stream.tensor_bytes,
                    cloner.to,
                )
            };
            (stream.tensor_bytes > 0).then(allocate).transpose()
        };
        let mbarriers = schedule.streams.iter().map(of).collect::<Result<_, _>>()?;
        Ok(Self { schedule, bounds, mbarriers })
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
            let mut position = self.begin(ordinal, Some(prefetch_iteration), cloner)?;
            if stream.buffers == 0 {
                position.source = Source::Values(carried);
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// Returns the state of a stream at the first iteration, which reads buffer 0.
    ///
    /// `prefetch_iteration` is the iteration to prefetch next; `None` with a producer warp.
    fn begin(
        &self,
        stream: usize,
        prefetch_iteration: Option<Iteration>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Position> {
        let index = cloner.to.constant_i32(0)?;
        let Stream { distance, buffers, .. } = self.schedule.streams[stream];
        let is_carried = prefetch_iteration.is_some() && buffers > 2 && distance == buffers - 1;
        let filled = is_carried.then(|| cloner.to.constant_i32(distance)).transpose()?;
        let (source, phase) = (Source::Buffer(index), self.mbarriers[stream].as_ref().map(|_| index));
        Ok(Position { prefetch_iteration, source, filled, phase })
    }

    /// Emits the prefetch of `iteration` for the stream `ordinal`, into the buffers with the index `index`.
    ///
    /// Returns the loaded values, which are not stored yet, and the iteration after `iteration`.
    fn prefetch(
        &self,
        ordinal: usize,
        iteration: &Iteration,
        index: Value,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<(Loaded, Iteration)> {
        let stream = &self.schedule.streams[ordinal];
        self.bounds.emit_slice(&stream.slice, iteration, front, cloner)?;
        if stream.has_copies || stream.tensor_bytes > 0 {
            cloner.emit_if(iteration.exists, |cloner| {
                self.copy(ordinal, index, front, cloner)?;
                Ok(Values::new())
            })?;
        }
        if stream.has_copies {
            cloner.to.commit_group()?;
        }
        let values = match stream.has_loads {
            true => cloner.emit_if(iteration.exists, |cloner| front.load(ordinal, cloner))?,
            false => Values::new(),
        };
        let next = self.bounds.emit_next_iteration(&stream.slice, iteration, cloner)?;
        Ok((Loaded { values, exists: iteration.exists, index }, next))
    }

    fn copy(
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

    fn store(
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

    /// Emits the loop and the epilogue, with `first` as the initial states of the streams.
    ///
    /// Returns the results of the emitted loop; the first ones are the results of the program's loop for the
    /// loop-carried values of `rest`.
    fn looped(
        &self,
        first: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        let rest = &self.schedule.rest;
        let accumulators = &self.schedule.asynchronous_accumulators;
        let mut initial: Vec<Value> = rest.carried.iter().map(|ordinal| self.bounds.initial[ordinal - 1]).collect();
        initial.extend(first.iter().flat_map(Position::values));
        let (region, around, arguments) = self.enter(&initial, cloner);
        let positions = self.positions_in_iteration(first, &arguments, cloner)?;
        self.wait(&positions, cloner)?;
        let early = self.prefetch_later_iterations(&positions, |stream| self.is_early(stream), front, cloner)?;
        let mut given = self.clone_iteration(&positions, &arguments, front, cloner)?;
        let prefetched = self.finish_iteration(&positions, early, &mut given, front, cloner)?;
        self.release(&positions, arguments[0], cloner)?;
        for ((ordinal, position), of_stream) in positions.iter().enumerate().zip(prefetched) {
            given.extend(self.advanced(ordinal, position, of_stream, cloner)?.values());
        }
        let mut results = self.close(region, around, &initial, &given, cloner)?;
        front.read(&[], cloner);
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
            cloner.to.wait_for_mmas(given, accumulators, accumulators.len())?;
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
            cloner.to.wait_for_mmas(given, accumulators, accumulators.len())?;
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
            let index = match (position.filled, &position.source) {
                (Some(index), _) => index,
                (None, Source::Buffer(index)) => (stream.distance..stream.buffers)
                    .try_fold(*index, |index, _| cloner.to.previous_index(index, stream.buffers))?,
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

    /// Emits the waits until the buffers of this iteration are filled.
    ///
    /// Without a producer warp, it also waits until all warps have read the buffers of the previous iteration. If
    /// copies come last, a barrier precedes them. The start of the iteration then needs another one only for
    /// asynchronous copies, since each lane waits for its own, and for stores.
    fn wait(&self, positions: &[Position], cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        for (position, mbarriers) in positions.iter().zip(&self.mbarriers) {
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
        for ((stream, position), mbarriers) in self.schedule.streams.iter().zip(positions).zip(&self.mbarriers) {
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

    /// Emits the state of a stream at the next iteration, given its state `position` at this one.
    ///
    /// `prefetched` is the prefetch that this iteration has issued; `None` without one.
    fn advanced(
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

    /// Starts the body of the `scf.for` with these initial values; returns its region, the enclosing block, and its
    /// block arguments.
    ///
    /// The first argument is the counter.
    fn enter(&self, initial: &[Value], cloner: &mut IrCloner<'_, '_, '_>) -> (Region, crate::Block, Vec<Value>) {
        let all = std::iter::once(&self.bounds.begin).chain(initial);
        let types = all.map(|value| cloner.to.ty(*value).clone()).collect();
        let (region, around) = cloner.to.enter_region(types);
        let arguments = cloner.to.block_arguments(cloner.to.block()).to_vec();
        (region, around, arguments)
    }

    /// Ends the body of the `scf.for`, which yields `given`, and appends the loop to block `around`; returns its
    /// results.
    fn close(
        &self,
        region: Region,
        around: crate::Block,
        initial: &[Value],
        given: &[Value],
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        cloner.to.build_op(scf::YIELD).operands("results", given).build()?;
        cloner.to.set_insertion_block(around);
        let Bounds { begin, end, step, .. } = self.bounds;
        let types: Vec<TileType> = initial.iter().map(|value| cloner.to.ty(*value).clone()).collect();
        let new_op = cloner.to.build_op(scf::FOR).operand(begin).operand(end).operand(step);
        let new_op = new_op.operands("initial", initial).existing_region(region);
        let attributes = cloner.from.op(self.schedule.op).attributes.iter();
        let new_op = new_op.results(types).attributes(attributes.map(|(name, value)| (name, value.clone())));
        Ok(new_op.values()?.to_vec())
    }

    /// Emits the loop twice, as two partitions: consumers, which do not prefetch, and the producer warp, which only
    /// prefetches.
    fn specialized(&self, front: &mut dyn Prefetch, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Vec<Value>> {
        let (consumers, around) = cloner.to.enter_region(Vec::new());
        let first = (0..self.schedule.streams.len()).map(|stream| self.begin(stream, None, cloner));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        let results = self.looped(&first, front, cloner)?;
        let results = &results[..self.schedule.rest.carried.len()];
        let types: Vec<TileType> = results.iter().map(|value| cloner.to.ty(*value).clone()).collect();
        cloner.to.build_op(ttg::WARP_YIELD).operands("values", results).build()?;
        cloner.to.set_insertion_block(around);
        let (producer, around) = cloner.to.enter_region(Vec::new());
        self.produced(front, cloner)?;
        cloner.to.build_op(ttg::WARP_RETURN).build()?;
        cloner.to.set_insertion_block(around);
        let new_op = cloner.to.build_op(ttg::WARP_SPECIALIZE).existing_region(consumers).existing_region(producer);
        let numbers = |numbers: Vec<u64>| Attribute::Array(TileType::integer(32), numbers);
        let mut new_op = new_op.results(types).attribute("partitionNumWarps", numbers(vec![1]));
        if let Some(registers) = self.schedule.producer.and_then(|warps| warps.registers) {
            let registers = registers.map(u64::from).to_vec();
            new_op = new_op.attribute("actualRegisters", numbers(registers));
        }
        Ok(new_op.values()?.to_vec())
    }

    /// Emits the loop of the producer warp.
    fn produced(&self, front: &mut dyn Prefetch, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let first = (0..self.schedule.streams.len()).map(|stream| self.begin(stream, None, cloner));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        let initial: Vec<Value> = first.iter().flat_map(Position::values).collect();
        let (region, around, arguments) = self.enter(&initial, cloner);
        cloner.bind(cloner.from.arguments(self.bounds.block)[0], arguments[0]);
        let mut beside = arguments[1..].iter().copied();
        let mut given = Vec::new();
        for (ordinal, position) in first.iter().enumerate() {
            let Some(position) = position.with_arguments(&mut beside) else { continue };
            let Some(index) = position.source.buffer_index() else { continue };
            if let (Some(phase), Some(mbarriers)) = (position.phase, &self.mbarriers[ordinal]) {
                mbarriers.emit_wait_until_empty(index, phase, cloner.to)?;
            }
            self.copy(ordinal, index, front, cloner)?;
            given.extend(self.advanced(ordinal, &position, None, cloner)?.values());
        }
        self.close(region, around, &initial, &given, cloner).map(drop)
    }
}
