//! Emits a pipelined loop twice, for consumer warps and for a producer warp.

use super::expand::{Pipeline, Prefetch};
use super::iteration::Bounds;
use super::schedule::Stream;
use crate::op::name::ttg;
use crate::transform::{IrCloner, Rewritten};
use crate::{Attribute, TileType, Value};

impl Pipeline<'_> {
    /// Emits the loop twice, as two partitions: consumers, which do not prefetch, and the producer warp, which only
    /// prefetches.
    pub(super) fn specialized(
        &self,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
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

    /// Emits the loop of the producer warp. It carries the values on which the slices of the streams depend, and the
    /// state of each stream.
    fn produced(&self, front: &mut dyn Prefetch, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let streams = &self.schedule.streams;
        let first = (0..streams.len()).map(|stream| self.begin(stream, None, cloner));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        let in_slice = |stream: &Stream| -> Vec<Value> {
            stream.slice.carried.iter().map(|index| self.bounds.initial[index - 1]).collect()
        };
        let of_streams = streams.iter().zip(&first);
        let initial: Vec<Value> =
            of_streams.flat_map(|(stream, position)| [in_slice(stream), position.values()].concat()).collect();
        let (region, around, arguments) = self.enter(&initial, cloner);
        let mut beside = arguments[1..].iter().copied();
        let mut given = Vec::new();
        for (ordinal, (stream, position)) in streams.iter().zip(&first).enumerate() {
            let carried: Vec<Value> = beside.by_ref().take(stream.slice.carried.len()).collect();
            let Some(position) = position.with_arguments(&mut beside) else { continue };
            let Some(index) = position.source.buffer_index() else { continue };
            self.bounds.emit_slice(&stream.slice, (arguments[0], &carried), front, cloner)?;
            let yielded = self.bounds.yielded_clones(cloner);
            given.extend(stream.slice.carried.iter().map(|index| yielded[index - 1]));
            if let (Some(phase), Some(mbarriers)) = (position.phase, &self.mbarriers[ordinal]) {
                mbarriers.emit_wait_until_empty(index, phase, cloner.to)?;
            }
            Bounds::emit_guarded(&stream.slice, cloner)?;
            self.copy(ordinal, index, front, cloner)?;
            given.extend(self.advanced(ordinal, &position, None, cloner)?.values());
        }
        self.close(region, around, &initial, &given, cloner).map(drop)
    }
}
