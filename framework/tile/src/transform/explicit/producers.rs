//! Loops whose boxes a warp of its own issues, behind the warps that do the rest of the program.
//!
//! The producer waits until a buffer is free, says how many bytes it expects, and issues the boxes of the next turn. The others
//! wait for these bytes, and each of their warps says by itself when it has read a buffer. So no turn has a meeting of the
//! block: warps may be in different turns, as far apart as there are buffers.

use super::loops::Loop;
use super::turns::Turns;
use super::{Expander, Maker, violation_of};
use crate::op::name::{scf, ttg};
use crate::{Attribute, Type, Value, Violation};

use super::super::Copier;

impl Expander<'_> {
    /// Whether a warp of its own issues the boxes of a loop.
    pub(super) fn is_produced(&self, of: &Loop) -> bool {
        self.choices.producers.contains_key(&of.op)
    }

    /// Writes the loop twice: for the warps that do the program without its copies, for the producer its copies alone.
    pub(super) fn produced(&mut self, turns: &Turns<'_>, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let of = turns.of;
        if !of.copies.iter().all(|copy| self.is_box(*copy)) {
            let message = "a warp of its own issues boxes, and other copies of the loop go otherwise";
            return Err(violation_of(copier.function, of.op, message));
        }
        let (consumed, around) = copier.to.enter_region(Vec::new());
        let results = self.looped(turns, copier)?;
        let types: Vec<Type> = results.iter().map(|value| copier.to.ty(*value).clone()).collect();
        let made = copier.to.op(ttg::WARP_YIELD).operands("values", &results).done();
        Maker { copier, at: of.op }.checked(made)?;
        copier.to.at(around);
        let (produced, around) = copier.to.enter_region(Vec::new());
        self.issued(turns, copier)?;
        let made = copier.to.op(ttg::WARP_RETURN).done();
        Maker { copier, at: of.op }.checked(made)?;
        copier.to.at(around);
        let mut made = copier.to.op(ttg::WARP_SPECIALIZE).made_region(consumed).made_region(produced);
        for ty in types {
            made = made.result(ty);
        }
        let one = Attribute::Array(Type::integer(32), vec![1]);
        let made = made.attribute("partitionNumWarps", one).values();
        let results = Maker { copier, at: of.op }.checked(made)?;
        copier.bind_all(&copier.from.op(of.op).results, &results);
        Ok(())
    }

    /// The producer's loop.
    fn issued(&mut self, turns: &Turns<'_>, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let of = turns.of;
        let first = Maker { copier, at: of.op }.integer(0, &Type::integer(32))?;
        let counter = copier.to.ty(turns.operands[0]).clone();
        let carried = vec![Type::integer(32); 2];
        let (region, around) = copier.to.enter_region([vec![counter], carried.clone()].concat());
        let arguments = copier.to.block_arguments(copier.to.block()).to_vec();
        let [counter, slot, phase] = [0, 1, 2].map(|number| arguments[number]);
        self.freed(of, (slot, phase), copier)?;
        self.copy_ahead(of, copier, (counter, slot))?;
        let given: [Value; 2] =
            [self.next(turns, copier, slot)?, self.next_phase(of.op, copier, (slot, phase), turns.stages)?];
        let made = copier.to.op(scf::YIELD).operands("results", &given).done();
        Maker { copier, at: of.op }.checked(made)?;
        copier.to.at(around);
        let [begin, end, step] = [0, 1, 2].map(|number| turns.operands[number]);
        let made = copier.to.op(scf::FOR).operand(begin).operand(end).operand(step);
        let mut made = made.operands("initial", &[first; 2]).made_region(region);
        for ty in carried {
            made = made.result(ty);
        }
        let made = made.values();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }
}
