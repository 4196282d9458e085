//! Copies that go ahead by way of registers: loaded before a turn does its work, stored to another buffer after it, so that
//! nobody waits for global memory in between.

use super::loops::Loop;
use super::{Expander, Maker};
use crate::marks::APART;
use crate::op::name::{scf, tw};
use crate::{Attribute, Op, Value, Violation};

use crate::transform::Copier;

/// What was loaded for a later turn, each with the copy that it is of.
pub(super) type Held = Vec<(Op, Value)>;

impl Expander<'_> {
    /// A loop's copies in two: those that are under way by themselves, and those that registers hold.
    pub(super) fn parted(&self, of: &Loop) -> (Loop, Loop) {
        let holds = |op: &Op| self.choices.copies.get(op).is_some_and(|choice| choice.through_registers);
        let part = |held: bool| {
            let copies: Vec<Op> = of.copies.iter().copied().filter(|op| holds(op) == held).collect();
            // What copies follow from is free of effects: it may be computed for both.
            let ahead = of.ahead.iter().copied().filter(|op| copies.contains(op) || !of.copies.contains(op)).collect();
            Loop { copies, ahead, ..of.clone() }
        };
        (part(false), part(true))
    }

    /// Loads what the copies of a turn bring, where there is such a turn.
    pub(super) fn fetch(
        &mut self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        (there, counter): (Value, Value),
    ) -> Result<Held, Violation> {
        if of.copies.is_empty() {
            return Ok(Held::new());
        }
        let wrong = crate::transform::unmade(copier.function, copier.from.op(of.op));
        let block = copier.from.blocks(copier.from.op(of.op).regions[0])[0];
        copier.bind(copier.from.arguments(block)[0], counter);
        let (then, around) = copier.to.enter_region(Vec::new());
        let views = self.views.clone();
        let mut loaded = Vec::new();
        for &op in &of.ahead {
            match copier.from.op(op).name() {
                tw::COPY => {
                    let source = copier.from.op(op).operands[0];
                    loaded.push((op, self.loaded(op, source, copier)?));
                }
                _ => copier.op(op, self)?,
            }
        }
        self.views = views;
        let values: Vec<Value> = loaded.iter().map(|(_, value)| *value).collect();
        copier.to.op(scf::YIELD).operands("results", &values).done().map_err(&wrong)?;
        copier.to.at(around);
        let types: Vec<_> = values.iter().map(|value| copier.to.ty(*value).clone()).collect();
        let (otherwise, around) = copier.to.enter_region(Vec::new());
        let zeros = types.iter().map(|ty| Maker { copier, at: of.op }.zeros(ty)).collect::<Result<Vec<_>, _>>()?;
        copier.to.op(scf::YIELD).operands("results", &zeros).done().map_err(&wrong)?;
        copier.to.at(around);
        let mut made = copier.to.op(scf::IF).operand(there).made_region(then).made_region(otherwise);
        for ty in types {
            made = made.result(ty);
        }
        let values = made.values().map_err(&wrong)?;
        Ok(loaded.into_iter().map(|(op, _)| op).zip(values).collect())
    }

    /// Stores what was loaded to the buffer that is meant, which nobody accesses until the block meets.
    pub(super) fn store(
        &mut self,
        held: &Held,
        copier: &mut Copier<'_, '_, '_>,
        there: Value,
    ) -> Result<(), Violation> {
        let Some(&(first, _)) = held.first() else { return Ok(()) };
        let (then, around) = copier.to.enter_region(Vec::new());
        for &(op, value) in held {
            let target = copier.from.op(op).operands[1];
            let store = self.write(op, value, target, copier)?;
            copier.to.body_mut().op_mut(store).attributes.set(APART, Attribute::Unit);
        }
        let wrong = crate::transform::unmade(copier.function, copier.from.op(first));
        copier.to.op(scf::YIELD).done().map_err(&wrong)?;
        copier.to.at(around);
        copier.to.op(scf::IF).operand(there).made_region(then).empty_region().done().map_err(&wrong).map(drop)
    }
}
