//! The turns of a loop whose copies go ahead: what a turn waits for, what it issues for turns to come, and what it hands on.

use super::copy::wait_for;
use super::held::Held;
use super::loops::{Loop, carried};
use super::{Expander, Maker};
use crate::op::name::{arith, scf, ttg, tw};
use crate::{Attribute, Block, Op, Region, Type, Value, Violation};

use super::super::Copier;

/// A loop that is written.
pub(super) struct Turns<'l> {
    pub of: &'l Loop,
    /// Buffers of each tensor.
    pub stages: u32,
    /// Its bounds, its step, and what it begins with.
    pub operands: &'l [Value],
}

/// What the loop carries beside what the program does, in a turn.
#[derive(Clone, Copy)]
struct Buffer {
    counter: Value,
    /// The number of the buffer that the turn reads.
    slot: Value,
    /// Whether the phase of its mbarrier is an odd one; where boxes fill it.
    phase: Option<Value>,
}

/// What is under way for a later turn.
struct Later {
    /// The buffer that is free for it.
    slot: Value,
    /// Whether there is such a turn.
    there: Value,
    held: Held,
}

impl Expander<'_> {
    /// The loop: it carries the number of the buffer that its turn reads. Gives its results.
    pub(super) fn looped(
        &mut self,
        turns: &Turns<'_>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<Vec<Value>, Violation> {
        let (of, operands) = (turns.of, turns.operands);
        let block = copier.from.blocks(copier.from.op(of.op).regions[0])[0];
        let sums = self.sums(of, block, copier);
        let own = copier.from.arguments(block).to_vec();
        let (initial, types) = self.carried_by(of, copier, (&own, &operands[3..]))?;
        let (region, around) = copier.to.enter_region(types.clone());
        let arguments = copier.to.block_arguments(copier.to.block()).to_vec();
        let phase = arguments.get(own.len() + 1).copied();
        let buffer = Buffer { counter: arguments[0], slot: arguments[own.len()], phase };
        let later = self.begun(turns, copier, buffer)?;
        copier.bind_all(&own, &arguments[..own.len()]);
        self.in_buffer(of, copier, Some(buffer.slot));
        self.skipped.extend(&of.copies);
        for op in copier.from.ops(block).to_vec() {
            match copier.from.op(op).name() {
                scf::YIELD => self.ended(turns, copier, (buffer, later.as_ref()), (op, &sums))?,
                _ => copier.op(op, self)?,
            }
        }
        self.in_buffer(of, copier, None);
        copier.to.at(around);
        let mut results = self.closed(turns, copier, (&initial, &types), region)?;
        self.awaited(of.op, copier, (&sums, &mut results), 0)?;
        results.truncate(copier.from.op(of.op).results.len());
        Ok(results)
    }

    /// The numbers, among what a loop carries, of sums that are waited for in the next turn.
    fn sums(&mut self, of: &Loop, block: Block, copier: &Copier<'_, '_, '_>) -> Vec<usize> {
        if !self.choices.pending.contains(&of.op) {
            return Vec::new();
        }
        self.pending.extend(&of.sums);
        of.sums.iter().filter_map(|product| carried(copier.from, block, *product)).collect()
    }

    /// What the loop begins with, and the types of its block's arguments: what the program carries, the number of the buffer, and
    /// the phase of its mbarrier where boxes fill it.
    fn carried_by(
        &self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        (own, initial): (&[Value], &[Value]),
    ) -> Result<(Vec<Value>, Vec<Type>), Violation> {
        let first = Maker { copier, at: of.op }.integer(0, &Type::integer(32))?;
        let beside = if self.filled.contains_key(&of.op) { 2 } else { 1 };
        let mut types = copier.types(&own[..1]);
        // What is carried has the type that it begins with.
        types.extend(initial.iter().map(|value| copier.to.ty(*value).clone()));
        types.extend(vec![Type::integer(32); beside]);
        let initial = initial.iter().copied().chain(vec![first; beside]).collect();
        Ok((initial, types))
    }

    /// Begins a turn: waits for its buffer, and issues what goes ahead. Here the block meets, whether copies follow or not: what was
    /// copied for this turn is there for all, and what the turn before has read may be overwritten. Where warps of their own
    /// issue, nothing goes ahead here, and nobody meets.
    fn begun(
        &mut self,
        turns: &Turns<'_>,
        copier: &mut Copier<'_, '_, '_>,
        buffer: Buffer,
    ) -> Result<Option<Later>, Violation> {
        let (of, stages) = (turns.of, turns.stages);
        let (own_turn, held) = self.parted(of);
        if let Some(phase) = buffer.phase {
            self.arrived(of, (buffer.slot, phase), copier)?;
        }
        if self.is_produced(of) {
            return Ok(None);
        }
        let ahead = self.ahead(of.op, stages);
        if self.has_groups(of) {
            wait_for(of.op, copier, i32::try_from(ahead - 1).unwrap_or(0))?;
        }
        let meets = copier.to.op(ttg::BARRIER).attribute("addrSpace", Attribute::Word("local".into())).done();
        Maker { copier, at: of.op }.checked(meets)?;
        let [end, step] = [turns.operands[1], turns.operands[2]];
        let counter = self.turn(of.op, copier, buffer.counter, step, ahead)?;
        let mut slot = self.before(turns, copier, buffer.slot)?;
        for _ in ahead + 1..stages {
            slot = self.before(turns, copier, slot)?;
        }
        let there = Maker { copier, at: of.op }.compare("slt", counter, end)?;
        if !own_turn.copies.is_empty() {
            self.issue(&own_turn, copier, there, (counter, slot))?;
        }
        let held = self.fetch(&held, copier, (there, counter))?;
        Ok(Some(Later { slot, there, held }))
    }

    /// Ends a turn at the program's `scf.yield`: stores what registers hold for a later one, waits for products of the turn before,
    /// says that a buffer is free, and hands on.
    fn ended(
        &mut self,
        turns: &Turns<'_>,
        copier: &mut Copier<'_, '_, '_>,
        (buffer, later): (Buffer, Option<&Later>),
        (last, sums): (Op, &[usize]),
    ) -> Result<(), Violation> {
        let of = turns.of;
        if let Some(later) = later {
            self.in_buffer(of, copier, Some(later.slot));
            self.store(&later.held, copier, later.there)?;
        }
        let mut given = copier.all(&copier.from.op(last).operands).to_vec();
        self.awaited(of.op, copier, (sums, &mut given), sums.len())?;
        match sums.is_empty() {
            true => self.free(of, copier, (buffer.slot, None))?,
            // What this turn's products still read is the next one's to say.
            false => {
                let before = self.before(turns, copier, buffer.slot)?;
                let is_later = Maker { copier, at: of.op }.compare("sgt", buffer.counter, turns.operands[0])?;
                self.free(of, copier, (before, Some(is_later)))?;
            }
        }
        given.push(self.next(turns, copier, buffer.slot)?);
        if let Some(phase) = buffer.phase {
            given.push(self.next_phase(of.op, copier, (buffer.slot, phase), turns.stages)?);
        }
        let made = copier.to.op(scf::YIELD).operands("results", &given).done();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }

    /// The `scf.for` itself, behind its region.
    fn closed(
        &self,
        turns: &Turns<'_>,
        copier: &mut Copier<'_, '_, '_>,
        (initial, types): (&[Value], &[Type]),
        region: Region,
    ) -> Result<Vec<Value>, Violation> {
        let operation = copier.from.op(turns.of.op).clone();
        let [begin, end, step] = [0, 1, 2].map(|number| turns.operands[number]);
        let made = copier.to.op(scf::FOR).operand(begin).operand(end).operand(step);
        let mut made = made.operands("initial", initial);
        for ty in &types[1..] {
            made = made.result(ty.clone());
        }
        for (name, value) in operation.attributes.iter() {
            made = made.attribute(name, value.clone());
        }
        let made = made.made_region(region).values();
        Ok(Maker { copier, at: turns.of.op }.checked(made)?.to_vec())
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
        let mut made = copier.to.op(tw::AWAIT_PRODUCTS).operands("inputs", &inputs);
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
    pub(super) fn next_phase(
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
        let other = maker.binary(arith::XORI, phase, one)?;
        let made = maker.copier.to.op(arith::SELECT).operand(is_last).operand(other).operand(phase).result(ty).value();
        maker.checked(made)
    }

    /// The number of the buffer after one, round at the end.
    pub(super) fn next(
        &self,
        turns: &Turns<'_>,
        copier: &mut Copier<'_, '_, '_>,
        slot: Value,
    ) -> Result<Value, Violation> {
        self.neighbour(turns.of.op, copier, slot, [turns.stages - 1, 0], arith::ADDI)
    }

    /// The number of the buffer before one, round at the end.
    fn before(&self, turns: &Turns<'_>, copier: &mut Copier<'_, '_, '_>, slot: Value) -> Result<Value, Violation> {
        self.neighbour(turns.of.op, copier, slot, [0, turns.stages - 1], arith::SUBI)
    }

    /// The number of the buffer beside one.
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
        let made = maker.copier.to.op(arith::SELECT).operand(is_last).operand(first).operand(next).result(ty).value();
        maker.checked(made)
    }
}
