//! Loops whose copies are prefetched (seed 003, Figure 2c): a front end of the software pipeliner. The schedule follows from what is
//! chosen: a tensor has as many buffers as its loop has stages, and copies are one iteration less ahead, or two if MMAs are still
//! executed when the next iteration begins.

use std::collections::HashMap;

use super::choices::Choices;
use super::expander::Expander;
use super::loops::{Loop, carried, loops};
use crate::marks::APART;
use crate::op::name::{scf, tw};
use crate::transform::pipeliner::{Prefetch, Schedule, Slice, Stream, expand};
use crate::transform::rewrite_error::violation_of;
use crate::transform::{Copier, Rewrite, Rewritten};
use crate::{Attribute, Function, Op, TileViolation, Value, Values};

/// The buffers of each tensor in shared memory, as chosen for the loop that fills it.
pub(super) fn buffer_counts(function: &Function, choices: &Choices) -> Result<HashMap<Op, u32>, TileViolation> {
    let mut buffers = HashMap::new();
    for of in loops(function) {
        let Some(&count) = choices.stages.get(&of.op) else { continue };
        if choices.pending.contains(&of.op) && (count < 3 || of.accumulator.is_empty()) {
            let message =
                "products go on while the next turn begins: that takes three stages, and sums that turns hand on";
            return Err(violation_of(function, of.op, message));
        }
        if let (Some(reason), true) = (&of.rejected, count > 1) {
            let message = format!("{count} stages, and the copies cannot go ahead: {reason}");
            return Err(violation_of(function, of.op, message));
        }
        let is_box = |copy: &Op| choices.boxes.contains_key(copy);
        if count > 1 && choices.producers.contains_key(&of.op) && !of.copies.iter().all(is_box) {
            let message = "a warp of its own issues boxes, and other copies of the loop go otherwise";
            return Err(violation_of(function, of.op, message));
        }
        for tensor in of.tensors {
            if buffers.insert(tensor, count).is_some() {
                return Err(violation_of(function, tensor, "two loops fill it"));
            }
        }
    }
    Ok(buffers)
}

impl Expander<'_> {
    /// Writes a loop whose copies are prefetched; says no of other loops.
    pub(super) fn pipelined(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let stages = self.choices.stages.get(&op).copied().unwrap_or(1);
        let of = loops(copier.function).into_iter().find(|of| of.op == op).filter(|_| stages > 1);
        let Some(of) = of else { return Ok(false) };
        let schedule = self.schedule(&of, stages, copier);
        if !schedule.asynchronous_accumulators.is_empty() {
            self.pending.extend(&of.accumulator);
        }
        for &copy in of.copies.iter().filter(|copy| self.choices.boxes.contains_key(copy)) {
            let map = self.map(copy, copier)?;
            self.maps.insert(copy, map);
        }
        expand(&schedule, &mut Copies { expander: self, of: &of }, copier)?;
        Ok(true)
    }

    fn schedule(&self, of: &Loop, stages: u32, copier: &Copier<'_, '_, '_>) -> Schedule {
        let body = copier.from;
        let block = body.blocks(body.op(of.op).regions[0])[0];
        let is_pending = self.choices.pending.contains(&of.op);
        let held = of.copies.iter().filter(|copy| self.is_through_registers(**copy)).count();
        let (boxes, others): (Vec<Op>, Vec<Op>) = of.copies.iter().partition(|copy| self.is_box(**copy));
        let stream = Stream {
            distance: stages - 1 - u32::from(is_pending),
            buffers: stages,
            slice: Slice::default(),
            has_copies: others.len() > held,
            has_loads: held > 0,
            tensor_bytes: boxes.iter().map(|copy| Self::bytes_of(*copy, copier)).sum(),
        };
        let accumulator = of.accumulator.iter().filter_map(|product| carried(body, block, *product));
        let is_own = |op: &Op| !of.copies.contains(op) && body.op(*op).name() != scf::YIELD;
        let ops = body.ops(block).iter().copied().filter(is_own).collect();
        Schedule {
            op: of.op,
            streams: vec![stream],
            rest: Slice { ops, carried: (1..body.arguments(block).len()).collect() },
            asynchronous_accumulators: if is_pending { accumulator.collect() } else { Vec::new() },
            owns_buffers: false,
            consumers: self.choices.producers.get(&of.op).copied(),
        }
    }

    fn is_through_registers(&self, copy: Op) -> bool {
        self.choices.copies.get(&copy).is_some_and(|choice| choice.through_registers)
    }
}

/// The copies of a loop that is written.
struct Copies<'e, 'c> {
    expander: &'e mut Expander<'c>,
    of: &'e Loop,
}

impl Copies<'_, '_> {
    /// Says which buffer of the loop's tensors is meant from here on.
    fn mean(&mut self, index: Option<Value>, copier: &Copier<'_, '_, '_>) {
        for &tensor in &self.of.tensors {
            if let Some(shared) = self.expander.tensors.get_mut(&copier.from.op(tensor).results[0]) {
                shared.index = index;
            }
        }
    }
}

impl Rewrite for Copies<'_, '_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        self.expander.rewrite(op, copier)
    }
}

impl Prefetch for Copies<'_, '_> {
    fn copy(
        &mut self,
        _: usize,
        index: Value,
        mbarrier: Option<Value>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        self.mean(Some(index), copier);
        for &op in &self.of.ahead {
            match copier.from.op(op).name() {
                tw::COPY if self.expander.is_through_registers(op) => {}
                tw::COPY if self.expander.is_box(op) => self.expander.fill_box(op, mbarrier, copier)?,
                tw::COPY => self.expander.fill(op, copier.from.op(op).operands[1], copier).map(drop)?,
                _ => copier.op(op, self)?,
            }
        }
        Ok(())
    }

    fn load(&mut self, _: usize, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Values> {
        let mut loaded = Values::new();
        for &op in &self.of.ahead {
            match copier.from.op(op).name() {
                tw::COPY if self.expander.is_through_registers(op) => {
                    loaded.push(self.expander.loaded(op, copier.from.op(op).operands[0], copier)?);
                }
                tw::COPY => {}
                _ => copier.op(op, self)?,
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
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        self.mean(Some(index), copier);
        let held: Vec<Op> =
            self.of.ahead.iter().copied().filter(|op| self.expander.is_through_registers(*op)).collect();
        copier.when(exists, |copier| {
            for (op, &value) in held.into_iter().zip(values) {
                let store = self.expander.write(op, value, copier.from.op(op).operands[1], copier)?;
                if is_disjoint {
                    copier.to.body_mut().op_mut(store).attributes.set(APART, Attribute::Unit);
                }
            }
            Ok(Values::new())
        })?;
        Ok(())
    }

    fn read(&mut self, indices: &[Value], copier: &Copier<'_, '_, '_>) {
        self.mean(indices.first().copied(), copier);
    }
}
