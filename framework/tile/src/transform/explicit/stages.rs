//! Loops whose copies go ahead of what uses them: as many buffers of each tensor as there are stages, all but one filled
//! before the loop, and in each turn the buffer that the turn before has read (seed 003, Figure 2c).
//!
//! A turn waits for its own buffer, then issues the copies of the turn that is so many ahead, and then does the rest. So
//! what was read in the turn before lies behind the same meeting of the block as what was copied for this one. What goes by
//! way of registers is loaded there and then, and stored when the rest is done (`held`).
//!
//! Where products go on while the next turn begins, a turn ends when those of the turn before have ended: their buffer is the one
//! that the next turn fills, so that copies are one turn less ahead.

use crate::op::name::{arith, scf, tw};
use std::collections::HashMap;

use super::copy::commit;
use super::loops::{Loop, loops};
use super::turns::Turns;
use super::{Choices, Expander, Maker, violation_of};
use crate::{Attribute, Function, Op, Type, Value, Violation};

use crate::transform::Copier;

/// The buffers of each tensor in shared memory, as chosen for the loop that fills it.
pub(super) fn of_tensors(function: &Function, choices: &Choices) -> Result<HashMap<Op, u32>, Violation> {
    let mut stages = HashMap::new();
    let Some(body) = &function.body else { return Ok(stages) };
    for of in loops(function) {
        let Some(&count) = choices.stages.get(&of.op) else { continue };
        if choices.pending.contains(&of.op) && (count < 3 || of.sums.is_empty()) {
            let message =
                "products go on while the next turn begins: that takes three stages, and sums that turns hand on";
            return Err(violation_of(function, of.op, message));
        }
        if let (Some(reason), true) = (&of.closed, count > 1) {
            return Err(violation_of(
                function,
                of.op,
                format!("{count} stages, and the copies cannot go ahead: {reason}"),
            ));
        }
        for tensor in of.tensors {
            if stages.insert(tensor, count).is_some() {
                return Err(violation_of(function, tensor, "two loops fill it"));
            }
            debug_assert!(body.op(tensor).name() == tw::SHARED_TENSOR);
        }
    }
    Ok(stages)
}

impl Expander<'_> {
    /// Writes a loop whose copies go ahead; says no of other loops.
    pub(super) fn staged(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<bool, Violation> {
        let stages = self.choices.stages.get(&op).copied().unwrap_or(1);
        if stages < 2 {
            return Ok(false);
        }
        let of = loops(copier.function).into_iter().find(|of| of.op == op);
        let Some(of) = of else { return Ok(false) };
        let operands = copier.all(&copier.from.op(op).operands);
        let [begin, end, step] = [operands[0], operands[1], operands[2]];
        let turns = Turns { of: &of, stages, operands: &operands };
        self.prepare(&of, copier, stages)?;
        if self.is_produced(&of) {
            self.produced(&turns, copier)?;
            return Ok(true);
        }
        let ahead = self.ahead(op, stages);
        for ahead in 0..ahead {
            let counter = self.turn(op, copier, begin, step, ahead)?;
            let slot =
                copier.to.constant(number(ahead)).map_err(super::super::unmade(copier.function, copier.from.op(op)))?;
            let there = Maker { copier, at: op }.compare("slt", counter, end)?;
            self.is_later = ahead > 0;
            self.issue(&of, copier, there, (counter, slot))?;
            self.is_later = false;
        }
        let results = self.looped(&turns, copier)?;
        copier.bind_all(&copier.from.op(op).results, &results);
        Ok(true)
    }

    /// How many turns copies are ahead.
    pub(super) fn ahead(&self, of: Op, stages: u32) -> u32 {
        stages - 1 - u32::from(self.choices.pending.contains(&of))
    }

    /// The counter of a turn that is so many ahead.
    pub(super) fn turn(
        &self,
        op: Op,
        copier: &mut Copier<'_, '_, '_>,
        from: Value,
        step: Value,
        ahead: u32,
    ) -> Result<Value, Violation> {
        if ahead == 0 {
            return Ok(from);
        }
        let mut maker = Maker { copier, at: op };
        let ty = maker.copier.to.ty(step).clone();
        let turns = maker.integer(i64::from(ahead), &ty)?;
        let distance = maker.binary(arith::MULI, step, turns)?;
        maker.binary(arith::ADDI, from, distance)
    }

    /// Issues the copies of a turn into a buffer, where there is such a turn, and closes their group.
    pub(super) fn issue(
        &mut self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        there: Value,
        (counter, slot): (Value, Value),
    ) -> Result<(), Violation> {
        let (then, around) = copier.to.enter_region(Vec::new());
        self.copy_ahead(of, copier, (counter, slot))?;
        let wrong = crate::transform::unmade(copier.function, copier.from.op(of.op));
        copier.to.op(scf::YIELD).done().map_err(&wrong)?;
        copier.to.at(around);
        copier.to.op(scf::IF).operand(there).made_region(then).empty_region().done().map_err(&wrong)?;
        if self.has_groups(of) { commit(of.op, copier) } else { Ok(()) }
    }

    /// Issues the copies of a turn into a buffer.
    pub(super) fn copy_ahead(
        &mut self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        (counter, slot): (Value, Value),
    ) -> Result<(), Violation> {
        let block = copier.from.blocks(copier.from.op(of.op).regions[0])[0];
        copier.bind(copier.from.arguments(block)[0], counter);
        let (outer, views) = (self.tensors.clone(), self.views.clone());
        self.in_buffer(of, copier, Some(slot));
        self.expect(of, slot, copier)?;
        for &op in &of.ahead {
            match copier.from.op(op).name() {
                tw::COPY if self.is_box(op) => self.fill_box(of, op, slot, copier)?,
                tw::COPY => {
                    let target = copier.from.op(op).operands[1];
                    self.fill(op, target, copier)?;
                }
                _ => copier.op(op, self)?,
            }
        }
        (self.tensors, self.views) = (outer, views);
        Ok(())
    }

    /// Says which buffer of the loop's tensors is meant from here on.
    pub(super) fn in_buffer(&mut self, of: &Loop, copier: &Copier<'_, '_, '_>, slot: Option<Value>) {
        for &tensor in &of.tensors {
            let value = copier.from.op(tensor).results[0];
            if let Some(shared) = self.tensors.get_mut(&value) {
                shared.slot = slot;
            }
        }
    }
}

fn number(value: u32) -> Attribute {
    Attribute::integer(i64::from(value), Type::integer(32))
}
