//! Loops whose copies go ahead of what uses them: as many buffers of each tensor as there are stages, all but one filled
//! before the loop, and in each turn the buffer that the turn before has read (seed 003, Figure 2c).
//!
//! A turn waits for its own buffer, then issues the copies of the turn that is so many ahead, and then does the rest. So
//! what was read in the turn before lies behind the same meeting of the block as what was copied for this one. What goes by
//! way of registers is loaded there and then, and stored when the rest is done (`held`).
//!
//! Where products go on while the next turn begins, a turn ends when those of the turn before have ended: their buffer is the one
//! that the next turn fills, so that copies are one turn less ahead.

use std::collections::HashMap;

use super::copy::{commit, wait_for};
use super::loops::{Loop, carried, loops};
use super::{Choices, Expander, Maker, violation_of};
use crate::tile::{Attribute, Function, Op, Type, Value, Violation};

use super::super::Copier;

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
            debug_assert!(body.op(tensor).name() == "tw.shared_tensor");
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
        self.prepare(&of, copier, stages)?;
        let ahead = self.ahead(op, stages);
        for ahead in 0..ahead {
            let counter = self.turn(op, copier, begin, step, ahead)?;
            let slot = copier.to.constant(number(ahead)).map_err(super::unmade(copier.function, copier.from.op(op)))?;
            let there = Maker { copier, at: op }.compare("slt", counter, end)?;
            self.is_later = ahead > 0;
            self.issue(&of, copier, there, (counter, slot))?;
            self.is_later = false;
        }
        self.looped(&of, copier, &operands, stages)?;
        Ok(true)
    }

    /// How many turns copies are ahead.
    fn ahead(&self, of: Op, stages: u32) -> u32 {
        stages - 1 - u32::from(self.choices.pending.contains(&of))
    }

    /// The counter of a turn that is so many ahead.
    fn turn(
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
        let distance = maker.binary("arith.muli", step, turns)?;
        maker.binary("arith.addi", from, distance)
    }

    /// Issues the copies of a turn into a buffer, where there is such a turn, and closes their group.
    fn issue(
        &mut self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        there: Value,
        (counter, slot): (Value, Value),
    ) -> Result<(), Violation> {
        let block = copier.from.blocks(copier.from.op(of.op).regions[0])[0];
        copier.bind(copier.from.arguments(block)[0], counter);
        let (then, around) = copier.to.enter_region(Vec::new());
        let (outer, views) = (self.tensors.clone(), self.views.clone());
        self.in_buffer(of, copier, Some(slot));
        self.expect(of, slot, copier)?;
        for &op in &of.ahead {
            match copier.from.op(op).name() {
                "tw.copy" if self.is_box(op) => self.fill_box(of, op, slot, copier)?,
                "tw.copy" => {
                    let target = copier.from.op(op).operands[1];
                    self.fill(op, target, copier)?;
                }
                _ => copier.op(op, self)?,
            }
        }
        (self.tensors, self.views) = (outer, views);
        let wrong = super::unmade(copier.function, copier.from.op(of.op));
        copier.to.op("scf.yield").done().map_err(&wrong)?;
        copier.to.at(around);
        copier.to.op("scf.if").operand(there).made_region(then).empty_region().done().map_err(&wrong)?;
        if self.has_groups(of) { commit(of.op, copier) } else { Ok(()) }
    }

    /// Says which buffer of the loop's tensors is meant from here on.
    fn in_buffer(&mut self, of: &Loop, copier: &Copier<'_, '_, '_>, slot: Option<Value>) {
        for &tensor in &of.tensors {
            let value = copier.from.op(tensor).results[0];
            if let Some(shared) = self.tensors.get_mut(&value) {
                shared.slot = slot;
            }
        }
    }

    /// The loop: it carries the number of the buffer that its turn reads.
    fn looped(
        &mut self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        operands: &[Value],
        stages: u32,
    ) -> Result<(), Violation> {
        let operation = copier.from.op(of.op).clone();
        let (function, from) = (copier.function, copier.from);
        let wrong = super::unmade(function, from.op(of.op));
        let [end, step] = [operands[1], operands[2]];
        let ahead = self.ahead(of.op, stages);
        let sums: Vec<usize> = if self.choices.pending.contains(&of.op) {
            self.pending.extend(&of.sums);
            of.sums.iter().filter_map(|product| carried(from, from.blocks(operation.regions[0])[0], *product)).collect()
        } else {
            Vec::new()
        };
        let first = copier.to.constant(number(0));
        let first = Maker { copier, at: of.op }.checked(first)?;
        let mut initial = operands[3..].to_vec();
        initial.push(first);
        let block = copier.from.blocks(operation.regions[0])[0];
        let own = copier.from.arguments(block).to_vec();
        let mut types = copier.types(&own);
        // What is carried has the type that it begins with.
        for (ty, value) in types.iter_mut().skip(1).zip(&initial) {
            *ty = copier.to.ty(*value).clone();
        }
        types.push(Type::integer(32));
        let by_boxes = self.filled.contains_key(&of.op);
        if by_boxes {
            // Whether the phase of the buffer is an odd one.
            initial.push(first);
            types.push(Type::integer(32));
        }
        let (region, around) = copier.to.enter_region(types.clone());
        let arguments = copier.to.block_arguments(copier.to.block()).to_vec();
        let [slot, phase] = [own.len(), arguments.len() - 1].map(|number| arguments[number]);
        let (own_turn, held) = self.parted(of);
        self.arrived(of, (slot, phase), copier)?;
        if self.has_groups(of) {
            wait_for(of.op, copier, i32::try_from(ahead - 1).unwrap_or(0))?;
        }
        // Here the block meets, whether copies follow or not: what was copied for this turn is there for all, and what the
        // turn before has read may be overwritten.
        let meets = copier.to.op("ttg.barrier").attribute("addrSpace", Attribute::Word("local".into())).done();
        Maker { copier, at: of.op }.checked(meets)?;
        let counter = self.turn(of.op, copier, arguments[0], step, ahead)?;
        let mut before = self.neighbour(of.op, copier, slot, [0, stages - 1], "arith.subi")?;
        for _ in ahead + 1..stages {
            before = self.neighbour(of.op, copier, before, [0, stages - 1], "arith.subi")?;
        }
        let there = Maker { copier, at: of.op }.compare("slt", counter, end)?;
        if !own_turn.copies.is_empty() {
            self.issue(&own_turn, copier, there, (counter, before))?;
        }
        let held = self.fetch(&held, copier, (there, counter))?;
        copier.bind_all(&own, &arguments[..own.len()]);
        self.in_buffer(of, copier, Some(slot));
        self.skipped.extend(&of.copies);
        let ops = copier.from.ops(block).to_vec();
        for &op in &ops {
            if copier.from.op(op).name() != "scf.yield" {
                copier.op(op, self)?;
                continue;
            }
            self.in_buffer(of, copier, Some(before));
            self.store(&held, copier, there)?;
            let mut given = copier.all(&copier.from.op(op).operands).to_vec();
            self.awaited(of.op, copier, (&sums, &mut given), sums.len())?;
            given.push(self.neighbour(of.op, copier, slot, [stages - 1, 0], "arith.addi")?);
            if by_boxes {
                given.push(self.next_phase(of.op, copier, (slot, phase), stages)?);
            }
            copier.to.op("scf.yield").operands("results", &given).done().map_err(&wrong)?;
        }
        self.in_buffer(of, copier, None);
        copier.to.at(around);
        let mut made =
            copier.to.op("scf.for").operand(operands[0]).operand(end).operand(step).operands("initial", &initial);
        for ty in &types[1..] {
            made = made.result(ty.clone());
        }
        for (name, value) in operation.attributes.iter() {
            made = made.attribute(name, value.clone());
        }
        let mut results = made.made_region(region).values().map_err(&wrong)?.to_vec();
        self.awaited(of.op, copier, (&sums, &mut results), 0)?;
        copier.bind_all(&operation.results, &results[..operation.results.len()]);
        Ok(())
    }

    /// Waits for all but so many products; of what is given, the sums are what the wait gives.
    fn awaited(
        &self,
        at: Op,
        copier: &mut Copier<'_, '_, '_>,
        (sums, given): (&[usize], &mut [Value]),
        outstanding: usize,
    ) -> Result<(), Violation> {
        if sums.is_empty() {
            return Ok(());
        }
        let inputs: Vec<Value> = sums.iter().map(|number| given[*number]).collect();
        let types: Vec<Type> = inputs.iter().map(|input| copier.to.ty(*input).clone()).collect();
        let mut made = copier.to.op("tw.await_products").operands("inputs", &inputs);
        for ty in types {
            made = made.result(ty);
        }
        let outstanding = i32::try_from(outstanding).unwrap_or(0);
        let made = made.attribute("outstanding", outstanding).values();
        let made = Maker { copier, at }.checked(made)?;
        sums.iter().zip(&*made).for_each(|(number, value)| given[*number] = *value);
        Ok(())
    }

    /// Whether the next turn's buffer has an odd phase: it changes behind the last buffer.
    fn next_phase(
        &self,
        op: Op,
        copier: &mut Copier<'_, '_, '_>,
        (slot, phase): (Value, Value),
        stages: u32,
    ) -> Result<Value, Violation> {
        let mut maker = Maker { copier, at: op };
        let ty = Type::integer(32);
        let [last, one] = [maker.integer((stages - 1).into(), &ty)?, maker.integer(1, &ty)?];
        let is_last = maker.compare("eq", slot, last)?;
        let other = maker.binary("arith.xori", phase, one)?;
        let made = maker.copier.to.op("arith.select").operand(is_last).operand(other).operand(phase).result(ty).value();
        maker.checked(made)
    }

    /// The number of the buffer beside one, round at the end.
    fn neighbour(
        &self,
        op: Op,
        copier: &mut Copier<'_, '_, '_>,
        slot: Value,
        [last, first]: [u32; 2],
        step: &str,
    ) -> Result<Value, Violation> {
        let mut maker = Maker { copier, at: op };
        let ty = Type::integer(32);
        let [last, first, one] =
            [maker.integer(last.into(), &ty)?, maker.integer(first.into(), &ty)?, maker.integer(1, &ty)?];
        let is_last = maker.compare("eq", slot, last)?;
        let next = maker.binary(step, slot, one)?;
        let made = maker.copier.to.op("arith.select").operand(is_last).operand(first).operand(next).result(ty).value();
        maker.checked(made)
    }
}

fn number(value: u32) -> Attribute {
    Attribute::integer(i64::from(value), Type::integer(32))
}
