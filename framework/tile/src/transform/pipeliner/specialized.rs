//! Emits a pipelined loop, and the loops around it, once for each partition: consumer warps and a producer warp.
//!
//! All partitions have the same loops. The enclosing loops carry the indices of buffers and the phases of mbarriers, so
//! that the producer warp fills buffers for the next inner loop while consumers execute what stands between two of them.

use super::alternate_tiles::{OrderBarriers, TILE_GROUPS, TileOrder};
use super::expand::{Pipeline, Prefetch};
use super::iteration::Bounds;
use super::nest::EnclosingLoop;
use super::position::Position;
use super::schedule::{Schedule, Stream};
use super::waits::Mbarriers;
use crate::op::name::ttg;
use crate::transform::{IrCloner, Rewritten};
use crate::{Attribute, Op, Region, TileType, Value, Values};

/// A pipelined loop with a producer warp, and the loops around it.
pub(super) struct SpecializedLoop<'s> {
    pub schedule: &'s Schedule,
    pub mbarriers: &'s [Option<Mbarriers>],
}

/// The results of an emitted loop, each with the value of the program that it replaces, and the states of the streams
/// behind the loop.
pub(super) struct Consumed {
    pub results: Vec<(Value, Value)>,
    pub last: Vec<Position>,
}

impl SpecializedLoop<'_> {
    /// Emits the loops as two partitions: consumers, which do not prefetch, and the producer warp, which only
    /// prefetches. Binds the results of the outermost loop.
    ///
    /// If groups of consumers alternate between the tiles of the enclosing loop, each group is a partition.
    pub fn emit(&self, front: &mut dyn Prefetch, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let enclosing = &self.schedule.enclosing;
        let consumers = self.schedule.producer.filter(|warps| warps.groups > 1).map(|warps| warps.consumers);
        let barriers = consumers.map(|warps| OrderBarriers::emit_allocation(warps, cloner.to)).transpose()?;
        let (own, around) = cloner.to.enter_region(Vec::new());
        let results = match &barriers {
            Some(barriers) => self.consumed_by_group(0, barriers, front, cloner).map(|()| Vec::new())?,
            None => {
                let first = self.first_positions(cloner)?;
                self.consumed(enclosing, &first, front, cloner)?.results
            }
        };
        let (replaced, results): (Vec<Value>, Vec<Value>) = results.into_iter().unzip();
        let types: Vec<TileType> = results.iter().map(|value| cloner.to.ty(*value).clone()).collect();
        cloner.to.build_op(ttg::WARP_YIELD).operands("values", &results).build()?;
        cloner.to.set_insertion_block(around);
        let mut regions = vec![own];
        if let (Some(barriers), Some(tiles)) = (&barriers, enclosing.first()) {
            for group in 1..TILE_GROUPS {
                let (other, around) = cloner.to.enter_region(Vec::new());
                front.begin_group(tiles.op, cloner);
                self.consumed_by_group(group, barriers, front, cloner)?;
                cloner.to.build_op(ttg::WARP_RETURN).build()?;
                cloner.to.set_insertion_block(around);
                regions.push(other);
            }
        }
        let (producer, around) = cloner.to.enter_region(Vec::new());
        let first = self.first_positions(cloner)?;
        self.produced(enclosing, &first, front, cloner)?;
        cloner.to.build_op(ttg::WARP_RETURN).build()?;
        cloner.to.set_insertion_block(around);
        regions.push(producer);
        let results = self.emit_partitions(regions, types, cloner)?;
        cloner.bind_all(&replaced, &results);
        Ok(())
    }

    /// Emits the operation whose regions are the partitions `regions`: those of the consumers, and that of the producer
    /// warp, which is the last one. Returns its results, which have the types `types`.
    fn emit_partitions(
        &self,
        regions: Vec<Region>,
        types: Vec<TileType>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Values> {
        let groups = regions.len() - 1;
        let of_consumers = self.schedule.producer.map_or(1, |warps| warps.consumers);
        // The number of the producer follows one number for each group of consumers.
        let numbers = |[own, of_producer]: [u32; 2], skipped: usize| {
            let each = std::iter::repeat_n(own, groups).chain([of_producer]).skip(skipped);
            Attribute::Array(TileType::integer(32), each.map(u64::from).collect())
        };
        let new_op = cloner.to.build_op(ttg::WARP_SPECIALIZE);
        let new_op = regions.into_iter().fold(new_op, |new_op, region| new_op.existing_region(region));
        let mut new_op = new_op.results(types).attribute("partitionNumWarps", numbers([of_consumers, 1], 1));
        if let Some(registers) = self.schedule.producer.and_then(|warps| warps.registers) {
            new_op = new_op.attribute("actualRegisters", numbers(registers, 0));
        }
        Ok(new_op.values()?)
    }

    /// Returns the states of the streams before the first iteration.
    pub(super) fn first_positions(&self, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Vec<Position>> {
        let streams = self.schedule.streams.iter().zip(self.mbarriers);
        streams.map(|(stream, mbarriers)| Position::emit_first(stream, mbarriers.is_some(), None, cloner)).collect()
    }

    fn pipeline<'a>(&'a self, order: Option<TileOrder<'a>>, cloner: &IrCloner<'_, '_, '_>) -> Rewritten<Pipeline<'a>> {
        let bounds = Bounds::new(self.schedule.op, cloner)?;
        Ok(Pipeline { schedule: self.schedule, bounds, mbarriers: self.mbarriers, order })
    }

    /// The loop within the outermost loop of `enclosing`.
    fn nested_loop(&self, enclosing: &[EnclosingLoop]) -> Op {
        enclosing.get(1).map_or(self.schedule.op, |of| of.op)
    }

    /// Emits the loops of the consumers: the pipelined loop, and the loops `enclosing` around it.
    fn consumed(
        &self,
        enclosing: &[EnclosingLoop],
        first: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Consumed> {
        let Some(outer) = enclosing.first() else { return self.consumed_innermost(first, None, front, cloner) };
        let nested = self.nested_loop(enclosing);
        let bounds = Bounds::new(outer.op, cloner)?;
        let carried = bounds.initial.len();
        let initial = [bounds.initial.clone(), values(first)].concat();
        let (region, around, arguments) = bounds.enter(&initial, cloner);
        cloner.bind_all(cloner.from.arguments(bounds.block), &arguments[..=carried]);
        let mut last = with_values(first, &arguments[1 + carried..]);
        let ops = cloner.from.ops(bounds.block);
        for &op in &ops[..ops.len().saturating_sub(1)] {
            if op != nested {
                cloner.rewrite_or_clone_op(op, front)?;
                continue;
            }
            let inner = self.consumed(&enclosing[1..], &last, front, cloner)?;
            inner.results.iter().for_each(|(value, copy)| cloner.bind(*value, *copy));
            last = inner.last;
        }
        let given = [bounds.yielded_clones(cloner), values(&last)].concat();
        let results = bounds.close(region, around, &initial, &given, cloner)?;
        let last = with_values(first, &results[carried..]);
        Ok(Consumed { results: cloner.from.op(outer.op).results.iter().copied().zip(results).collect(), last })
    }

    /// Emits the pipelined loop of the consumers, in this order among the loops of several groups; `None` for one group.
    pub(super) fn consumed_innermost(
        &self,
        first: &[Position],
        order: Option<TileOrder<'_>>,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Consumed> {
        front.begin(cloner)?;
        let pipeline = self.pipeline(order, cloner)?;
        let results = pipeline.looped(first, front, cloner)?;
        let kept = &self.schedule.rest.carried;
        let last = with_values(first, &results[kept.len()..]);
        if !self.schedule.enclosing.is_empty() {
            pipeline.release_last(&last, cloner)?;
        }
        let all = &cloner.from.op(self.schedule.op).results;
        Ok(Consumed { results: kept.iter().map(|ordinal| all[ordinal - 1]).zip(results).collect(), last })
    }

    /// Emits the loops of the producer warp: the pipelined loop, and the loops `enclosing` around it. They carry the
    /// values on which the slices depend, and the state of each stream. Returns the states behind the loops.
    fn produced(
        &self,
        enclosing: &[EnclosingLoop],
        first: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Position>> {
        let Some(EnclosingLoop { op, slice }) = enclosing.first() else {
            return self.produced_innermost(first, front, cloner);
        };
        let bounds = Bounds::new(*op, cloner)?;
        let carried: Vec<Value> = slice.carried.iter().map(|index| bounds.initial[index - 1]).collect();
        let initial = [carried.clone(), values(first)].concat();
        let (region, around, arguments) = bounds.enter(&initial, cloner);
        let positions = with_values(first, &arguments[1 + carried.len()..]);
        bounds.emit_slice(slice, (arguments[0], &arguments[1..=carried.len()]), front, cloner)?;
        let last = self.produced(&enclosing[1..], &positions, front, cloner)?;
        let yielded = bounds.yielded_clones(cloner);
        let given: Vec<Value> = slice.carried.iter().map(|index| yielded[index - 1]).collect();
        let results = bounds.close(region, around, &initial, &[given, values(&last)].concat(), cloner)?;
        Ok(with_values(first, &results[carried.len()..]))
    }

    fn produced_innermost(
        &self,
        first: &[Position],
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Position>> {
        let pipeline = self.pipeline(None, cloner)?;
        let streams = &self.schedule.streams;
        let in_slice = |stream: &Stream| -> Vec<Value> {
            stream.slice.carried.iter().map(|index| pipeline.bounds.initial[index - 1]).collect()
        };
        let initial: Vec<Value> = streams.iter().flat_map(in_slice).chain(values(first)).collect();
        let (region, around, arguments) = pipeline.bounds.enter(&initial, cloner);
        let carried = initial.len() - values(first).len();
        let positions = with_values(first, &arguments[1 + carried..]);
        let mut slices = arguments[1..=carried].iter().copied();
        let (mut given, mut next) = (Vec::new(), Vec::new());
        for (ordinal, (stream, position)) in streams.iter().zip(&positions).enumerate() {
            let Some(index) = position.source.buffer_index() else { continue };
            let carried: Vec<Value> = slices.by_ref().take(stream.slice.carried.len()).collect();
            pipeline.bounds.emit_slice(&stream.slice, (arguments[0], &carried), front, cloner)?;
            let yielded = pipeline.bounds.yielded_clones(cloner);
            given.extend(stream.slice.carried.iter().map(|index| yielded[index - 1]));
            if let (Some(phase), Some(mbarriers)) = (position.phase, &self.mbarriers[ordinal]) {
                mbarriers.emit_wait_until_empty(index, phase, cloner.to)?;
            }
            Bounds::emit_guarded(&stream.slice, cloner)?;
            pipeline.copy(ordinal, index, front, cloner)?;
            next.push(pipeline.advanced(ordinal, position, None, cloner)?);
        }
        given.extend(values(&next));
        let results = pipeline.bounds.close(region, around, &initial, &given, cloner)?;
        Ok(with_values(first, &results[carried..]))
    }
}

/// The values of all positions, in the order in which a loop carries them.
pub(super) fn values(positions: &[Position]) -> Vec<Value> {
    positions.iter().flat_map(Position::values).collect()
}

/// Returns positions like `positions`, with the values `values`.
pub(super) fn with_values(positions: &[Position], values: &[Value]) -> Vec<Position> {
    let mut values = values.iter().copied();
    positions.iter().filter_map(|position| position.with_arguments(&mut values)).collect()
}
