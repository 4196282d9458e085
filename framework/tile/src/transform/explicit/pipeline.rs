//! Pipelines loops with explicit copies (Hexcute paper, Figure 2c), as a front end of the software pipeliner.
//!
//! A tensor has as many buffers as its loop has stages, or one if the lanes hold the tiles of the next iteration in
//! registers. The prefetch distance, in iterations, is the number of stages minus one; it is the number of stages minus
//! two if MMAs are still in flight when the next iteration begins.

use std::collections::HashMap;

use super::choices::ExplicitMemoryChoices;
use super::expander::Expander;
use super::loops::{SharedCopyLoop, find_shared_copy_loops};
use crate::op::name::scf;
use crate::op_attrs::DISJOINT;
use crate::transform::pipeliner::{AccumulationChain, Prefetch, Schedule, Slice, Source, Stream, expand};
use crate::transform::rewrite_error::violation_of;
use crate::transform::{IrCloner, Rewrite, Rewritten};
use crate::{Attribute, Function, Op, TileViolation, Value, Values};

/// The number of buffers of each tensor in shared memory, by its operation, as chosen for the loop that fills it.
///
/// The error is at a loop that cannot have the chosen number, or at a tensor that loops with different numbers fill.
pub(super) fn buffer_counts(
    function: &Function,
    choices: &ExplicitMemoryChoices,
) -> Result<HashMap<Op, u32>, TileViolation> {
    let mut buffers = HashMap::new();
    for of in find_shared_copy_loops(function) {
        let Some(&count) = choices.stages.get(&of.op) else { continue };
        if choices.overlapped_mmas.contains(&of.op) && (count < 3 || of.accumulator.is_empty()) {
            let message =
                "MMAs overlap with the next iteration: that takes three stages, and a loop-carried accumulator";
            return Err(violation_of(function, of.op, message));
        }
        if let (Some(reason), true) = (&of.rejected, count > 1) {
            let message = format!("{count} stages, and the copies cannot be prefetched: {reason}");
            return Err(violation_of(function, of.op, message));
        }
        let is_loaded = |copy: &Op| choices.copies.get(copy).is_some_and(|choice| choice.through_registers);
        if choices.single_buffer.contains(&of.op) && (count != 2 || !of.copies.iter().all(is_loaded)) {
            let message = "a loop with one buffer has two stages, and all its copies go through registers";
            return Err(violation_of(function, of.op, message));
        }
        let is_box = |copy: &Op| choices.tensor_copies.contains_key(copy);
        if count > 1 && choices.producers.contains_key(&of.op) && !of.copies.iter().all(is_box) {
            let message = "a producer warp issues bulk tensor copies, and the loop has copies of other kinds";
            return Err(violation_of(function, of.op, message));
        }
        if let (Some(_), Err(reason)) = (choices.producers.get(&of.op), &of.enclosing) {
            return Err(violation_of(function, of.op, format!("no producer warp: {reason}")));
        }
        if choices.producers.get(&of.op).is_some_and(|choice| choice.groups > 1) {
            of.check_tile_groups(function).map_err(|reason| violation_of(function, of.op, reason))?;
        }
        for tensor in of.tensors {
            let count = choices.buffer_count(of.op).unwrap_or(count);
            if buffers.insert(tensor, count).is_some_and(|other| other != count) {
                return Err(violation_of(function, tensor, "the loops that fill it have different numbers of buffers"));
            }
        }
    }
    Ok(buffers)
}

impl Expander<'_> {
    /// Emits a loop with several stages, or the outermost loop around one with a producer warp; returns false, and emits
    /// nothing, for other loops.
    pub(super) fn pipelined(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let stages = |of: &SharedCopyLoop| self.choices.stages.get(&of.op).copied().filter(|stages| *stages > 1);
        let all = find_shared_copy_loops(cloner.function).into_iter().filter_map(|of| Some((stages(&of)?, of)));
        let starts = |of: &SharedCopyLoop| match self.choices.producers.contains_key(&of.op) {
            true => of.outermost() == op,
            false => of.op == op,
        };
        let Some((stages, of)) = all.into_iter().find(|(_, of)| starts(of)) else { return Ok(false) };
        let schedule = self.schedule(&of, stages, cloner);
        if !schedule.asynchronous_accumulators.is_empty() {
            self.pending.extend(&of.accumulator);
        }
        if schedule.producer.is_some() {
            self.ping_pong.extend(self.choices.ping_pong.get(&of.op));
            // Both partitions use the buffers, also of tensors that the program allocates in an enclosing loop.
            of.tensors.iter().try_for_each(|tensor| self.shared_tensor(*tensor, cloner))?;
        }
        for &copy in of.copies.iter().filter(|copy| self.choices.tensor_copies.contains_key(copy)) {
            let map = self.map(copy, cloner)?;
            self.maps.insert(copy, map);
        }
        expand(&schedule, &mut Copies { expander: self, of: &of }, cloner)?;
        Ok(true)
    }

    fn schedule(&self, of: &SharedCopyLoop, stages: u32, cloner: &IrCloner<'_, '_, '_>) -> Schedule {
        let body = cloner.from;
        let block = body.blocks(body.op(of.op).regions[0])[0];
        let is_pending = self.choices.overlapped_mmas.contains(&of.op);
        let via_registers = of.copies.iter().filter(|copy| self.is_through_registers(**copy)).count();
        let (tensor_copies, others): (Vec<Op>, Vec<Op>) = of.copies.iter().partition(|copy| self.is_box(**copy));
        let stream = Stream {
            distance: stages - 1 - u32::from(is_pending),
            buffers: self.choices.buffer_count(of.op).unwrap_or(stages),
            slice: Slice::default(),
            has_copies: others.len() > via_registers,
            has_loads: via_registers > 0,
            tensor_bytes: tensor_copies.iter().map(|copy| Self::bytes_of(*copy, cloner)).sum(),
        };
        let carried = |dot: &Op| AccumulationChain::ending_with(body, block, *dot).carried;
        let asynchronous_dots = if is_pending { of.accumulator.len() } else { 0 };
        let is_own = |op: &Op| !of.copies.contains(op) && body.op(*op).name() != scf::YIELD;
        let ops = body.ops(block).iter().copied().filter(is_own).collect();
        let producer = self.choices.producers.get(&of.op).copied();
        Schedule {
            op: of.op,
            enclosing: producer.and(of.enclosing.clone().ok()).unwrap_or_default(),
            streams: vec![stream],
            early_uses: Vec::new(),
            rest: Slice { ops, carried: (1..body.arguments(block).len()).collect(), ..Slice::default() },
            asynchronous_accumulators: of.accumulator.iter().take(asynchronous_dots).filter_map(carried).collect(),
            asynchronous_dots,
            prefetches_last: false,
            mma_waits_cover_block: false,
            producer,
        }
    }

    fn is_through_registers(&self, copy: Op) -> bool {
        self.choices.copies.get(&copy).is_some_and(|choice| choice.through_registers)
    }
}

/// The copies of the loop that is being emitted; as the front end of the pipeliner, it emits their prefetches.
struct Copies<'e, 'c> {
    expander: &'e mut Expander<'c>,
    of: &'e SharedCopyLoop,
}

impl Copies<'_, '_> {
    /// Sets the index of the current buffer for all tensors of the loop.
    fn set_buffer(&mut self, index: Option<Value>, cloner: &IrCloner<'_, '_, '_>) {
        for &tensor in &self.of.tensors {
            if let Some(shared) = self.expander.tensors.get_mut(&cloner.from.op(tensor).results[0]) {
                shared.index = index;
            }
        }
    }
}

impl Rewrite for Copies<'_, '_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        self.expander.rewrite(op, cloner)
    }
}

impl Prefetch for Copies<'_, '_> {
    fn begin_group(&mut self, tiles: Op, cloner: &IrCloner<'_, '_, '_>) {
        let inside = cloner.from.op_and_nested_ops(tiles);
        let forgotten =
            inside.iter().filter(|op| !self.of.tensors.contains(op)).flat_map(|op| &cloner.from.op(*op).results);
        forgotten.for_each(|value| _ = self.expander.tensors.remove(value));
        self.expander.defer_allocations(tiles, cloner);
    }

    fn copy(
        &mut self,
        _: usize,
        index: Value,
        mbarrier: Option<Value>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        self.set_buffer(Some(index), cloner);
        for &op in &self.of.prefetch_slice {
            let filled = cloner.from.operand(op, "dst").filter(|_| self.of.copies.contains(&op));
            match filled {
                Some(_) if self.expander.is_through_registers(op) => {}
                Some(_) if self.expander.is_box(op) => self.expander.fill_box(op, mbarrier, cloner)?,
                Some(tensor) => self.expander.fill(op, tensor, cloner).map(drop)?,
                None => cloner.rewrite_or_clone_op(op, self)?,
            }
        }
        Ok(())
    }

    fn load(&mut self, _: usize, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Values> {
        let mut loaded = Values::new();
        for &op in &self.of.prefetch_slice {
            match self.of.copies.contains(&op) {
                true if self.expander.is_through_registers(op) => {
                    loaded.push(self.expander.loaded(op, cloner.from.op(op).operands[0], cloner)?);
                }
                true => {}
                false => cloner.rewrite_or_clone_op(op, self)?,
            }
        }
        Ok(loaded)
    }

    fn store(
        &mut self,
        _: usize,
        values: &[Value],
        [index, exists]: [Value; 2],
        is_disjoint: bool,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        self.set_buffer(Some(index), cloner);
        let via_registers: Vec<Op> =
            self.of.prefetch_slice.iter().copied().filter(|op| self.expander.is_through_registers(*op)).collect();
        cloner.emit_if(exists, |cloner| {
            for (op, &value) in via_registers.into_iter().zip(values) {
                let store = self.expander.write(op, value, cloner.from.op(op).operands[1], cloner)?;
                if is_disjoint {
                    cloner.to.body_mut().op_mut(store).attributes.set(DISJOINT, Attribute::Unit);
                }
            }
            Ok(Values::new())
        })?;
        Ok(())
    }

    fn read(&mut self, sources: &[Source], cloner: &IrCloner<'_, '_, '_>) {
        self.set_buffer(sources.first().and_then(Source::buffer_index), cloner);
    }
}
