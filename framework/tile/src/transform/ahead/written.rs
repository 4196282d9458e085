//! The loop with its loads ahead.

use crate::op::name::{arith, scf, ttg};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::follows::follows;
use super::kept::{Kept, kept};
use super::turn::{Bounds, Issued, State, Stream, issue};
use super::{Fetch, REGISTER_BUFFERS, Reader, Staged, Way};
use crate::marks::IN_PLACE;
use crate::op::Dialects;
use crate::transform::explicit::{Maker, commit, wait_for};
use crate::transform::{Copier, Rewrite, rewritten, unmade};
use crate::{Attribute, Function, LayoutName, Memory, Op, Origin, Type, Value, Violation};
use tilewright_layout::FamilySpec;

/// Writes loops of a function anew.
///
/// # Errors
/// [`Violation`]: loads that do not belong to their loop, or follow from what is not done ahead.
pub fn write(function: &Function, staged: &[Staged], dialects: &Dialects) -> Result<Function, Violation> {
    rewritten(function, dialects, &mut Writer { staged })
}

struct Writer<'s> {
    staged: &'s [Staged],
}

impl Rewrite for Writer<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<bool, Violation> {
        let Some(staged) = self.staged.iter().find(|staged| staged.op == op && !staged.loads.is_empty()) else {
            return Ok(false);
        };
        Written::begun(staged, copier)?.write(self, copier)?;
        Ok(true)
    }
}

/// A loop that is being written.
struct Written<'s> {
    bounds: Bounds,
    fetches: &'s [Fetch],
    streams: Vec<Stream>,
    /// The buffers of each load.
    buffers: Vec<Buffers>,
    kept: Kept,
    /// What the loop begins with, of all that it carried.
    initial: Vec<Value>,
}

/// Buffers of one load.
struct Buffers {
    all: Value,
    one: Type,
}

/// What the loop carries beside its own values: for each stream the turn that is ahead, and which buffers are read and filled.
#[derive(Clone)]
struct Beside {
    states: Vec<State>,
    slots: Vec<Vec<Value>>,
}

impl Beside {
    fn values(&self) -> Vec<Value> {
        let of = self.states.iter().zip(&self.slots);
        of.flat_map(|(state, slots)| state.values().into_iter().chain(slots.iter().copied())).collect()
    }

    /// The same of the arguments that stand for it.
    fn taken(&self, values: &[Value]) -> Option<Self> {
        let mut values = values.iter().copied();
        let (mut states, mut slots) = (Vec::new(), Vec::new());
        for (state, own) in self.states.iter().zip(&self.slots) {
            states.push(state.taken(&mut values)?);
            slots.push(values.by_ref().take(own.len()).collect());
        }
        Some(Self { states, slots })
    }
}

impl<'s> Written<'s> {
    fn begun(staged: &'s Staged, copier: &mut Copier<'_, '_, '_>) -> Result<Self, Violation> {
        let (from, op) = (copier.from, staged.op);
        let refused = |reason: String| Violation::of(copier.function, from.op(op), reason);
        let block = from.op(op).regions.first().and_then(|region| from.blocks(*region).first().copied());
        let block = block.ok_or_else(|| refused("it has no body".to_owned()))?;
        let mut streams = Vec::new();
        for (way, buffers) in [(Way::Copy, staged.stages.max(2)), (Way::Registers, REGISTER_BUFFERS)] {
            let numbers = (0..staged.loads.len()).filter(|number| staged.loads[*number].way == way);
            let fetches: Vec<usize> = numbers.collect();
            let loads: Vec<_> = fetches.iter().map(|number| staged.loads[*number].load.clone()).collect();
            if !loads.is_empty() {
                let follows = follows(from, block, &loads).map_err(refused)?;
                streams.push(Stream { way, buffers, fetches, follows });
            }
        }
        let wanted: BTreeSet<Value> = staged.loads.iter().map(|fetch| fetch.load.wanted).collect();
        let results = &from.op(op).results;
        let all: BTreeSet<Value> =
            from.walk(from.root()).into_iter().flat_map(|op| from.op(op).operands.clone()).collect();
        let kept = kept(from, block, &wanted, &|number| results.get(number).is_some_and(|value| all.contains(value)));
        let operands = copier.all(&from.op(op).operands);
        let [begin, end, step] = [operands[0], operands[1], operands[2]];
        let unsigned = from.op(op).attributes.get("unsignedCmp").is_some();
        let bounds = Bounds { op, block, begin, end, step, unsigned };
        let mut written = Self {
            bounds,
            fetches: &staged.loads,
            streams,
            buffers: Vec::new(),
            kept,
            initial: operands[3..].to_vec(),
        };
        written.allocate(copier)?;
        Ok(written)
    }

    /// Buffers in shared memory, before the loop.
    fn allocate(&mut self, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        for (number, fetch) in self.fetches.iter().enumerate() {
            let ty = copier.from.ty(fetch.load.stored);
            let memory = Memory {
                shape: ty.shape().unwrap_or_default().to_vec(),
                element: ty.element().clone(),
                layout: fetch.memory.clone(),
                space: LayoutName::new(FamilySpec::new("shared_memory"), "#ttg.shared_memory"),
                mutable: true,
                allocation: None,
            };
            let mut all = memory.clone();
            let stream = self.streams.iter().find(|stream| stream.fetches.contains(&number));
            all.shape.insert(0, u64::from(stream.map_or(1, |stream| stream.buffers)));
            let made = copier.to.op(ttg::LOCAL_ALLOC).result(Type::Memory(Arc::new(all))).value();
            let all = made.map_err(unmade(copier.function, copier.from.op(self.bounds.op)))?;
            self.buffers.push(Buffers { all, one: Type::Memory(Arc::new(memory)) });
        }
        Ok(())
    }

    fn buffer(&self, number: usize, slot: Value, copier: &mut Copier<'_, '_, '_>) -> Result<Value, Violation> {
        let Buffers { all, one } = &self.buffers[number];
        let made = copier.to.op(ttg::MEMDESC_INDEX).operand(*all).operand(slot).result(one.clone()).value();
        made.map_err(unmade(copier.function, copier.from.op(self.bounds.op)))
    }

    fn slot(&self, number: u32, copier: &mut Copier<'_, '_, '_>) -> Result<Value, Violation> {
        Maker { copier, at: self.bounds.op }.integer(number.into(), &Type::integer(32))
    }

    fn write(&self, writer: &mut Writer<'_>, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let mut first = Beside { states: Vec::new(), slots: Vec::new() };
        for stream in &self.streams {
            let (state, slots) = self.before(stream, copier)?;
            first.states.push(state);
            first.slots.push(slots);
        }
        self.looped(&first, writer, copier)?;
        match self.streams.iter().any(|stream| stream.way == Way::Copy) {
            // Nothing is under way anymore, which ends the use of the buffers.
            true => wait_for(self.bounds.op, copier, 0),
            false => Ok(()),
        }
    }

    /// Before the loop: the first turns of a stream are issued.
    fn before(&self, stream: &Stream, copier: &mut Copier<'_, '_, '_>) -> Result<(State, Vec<Value>), Violation> {
        let mut state = self.bounds.first(&stream.follows, &self.initial, copier)?;
        for number in 0..stream.ahead() {
            let slot = self.slot(number, copier)?;
            state = self.ahead(stream, &state, slot, copier).and_then(|(issued, next)| {
                self.store(&issued, slot, copier)?;
                Ok(next)
            })?;
        }
        let read = self.slot(0, copier)?;
        Ok(match stream.way {
            Way::Copy => (state, vec![read, self.slot(stream.ahead(), copier)?]),
            Way::Registers => (state, vec![read]),
        })
    }

    /// Issues the loads of a turn, and gives the next.
    fn ahead(
        &self,
        stream: &Stream,
        state: &State,
        slot: Value,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(Issued, State), Violation> {
        self.bounds.enter(&stream.follows, state, copier);
        let issued = issue(&self.bounds, (stream, self.fetches), state, copier, &mut |copier, number| {
            self.buffer(number, slot, copier)
        })?;
        if stream.way == Way::Copy {
            commit(self.bounds.op, copier)?;
        }
        let next = self.bounds.next(&stream.follows, state, copier)?;
        Ok((issued, next))
    }

    /// Stores what registers hold, after what is done with it on the way. What the turn's loads follow from stands for that turn.
    fn store(&self, issued: &Issued, slot: Value, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        for &(number, value) in &issued.values {
            let load = &self.fetches[number].load;
            copier.bind(copier.from.op(load.op).results[0], value);
            for &op in &load.chain {
                let operands = copier.all(&copier.from.op(op).operands);
                copier.add(op, operands, Vec::new());
            }
            let buffer = self.buffer(number, slot, copier)?;
            let stored = copier.value(load.stored);
            let made = copier.to.op(ttg::LOCAL_STORE).operand(stored).operand(buffer).done();
            made.map_err(unmade(copier.function, copier.from.op(load.op)))?;
        }
        Ok(())
    }

    fn looped(
        &self,
        first: &Beside,
        writer: &mut Writer<'_>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(), Violation> {
        let (from, op) = (copier.from, self.bounds.op);
        let operation = from.op(op).clone();
        let wrong = unmade(copier.function, from.op(op));
        let mut initial: Vec<Value> = self.kept.carried.iter().map(|number| self.initial[number - 1]).collect();
        initial.extend(first.values());
        let mut types = vec![copier.to.ty(self.bounds.begin).clone()];
        types.extend(initial.iter().map(|value| copier.to.ty(*value).clone()));
        let (region, around) = copier.to.enter_region(types.clone());
        let arguments = copier.to.block_arguments(copier.to.block()).to_vec();
        let given = self.turn(&arguments, first, writer, copier)?;
        copier.to.op(scf::YIELD).operands("results", &given).done().map_err(&wrong)?;
        copier.to.at(around);
        let Bounds { begin, end, step, .. } = self.bounds;
        let mut made = copier.to.op(scf::FOR).operand(begin).operand(end).operand(step).operands("initial", &initial);
        for ty in &types[1..] {
            made = made.result(ty.clone());
        }
        for (name, value) in operation.attributes.iter() {
            made = made.attribute(name, value.clone());
        }
        let results = made.made_region(region).values().map_err(&wrong)?;
        for (number, result) in self.kept.carried.iter().zip(&results) {
            copier.bind(operation.results[number - 1], *result);
        }
        Ok(())
    }

    /// One turn; what it gives to the next.
    fn turn(
        &self,
        arguments: &[Value],
        first: &Beside,
        writer: &mut Writer<'_>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<Vec<Value>, Violation> {
        let (from, op) = (copier.from, self.bounds.op);
        let own = 1 + self.kept.carried.len();
        let broken = || Violation::of(copier.function, from.op(op), "its arguments are not those of its loads");
        let beside = first.taken(&arguments[own..]).ok_or_else(broken)?;
        self.meet(copier)?;
        let (mut next, mut later) = (Beside { states: Vec::new(), slots: Vec::new() }, Vec::new());
        for (stream, (state, slots)) in self.streams.iter().zip(beside.states.iter().zip(&beside.slots)) {
            let (fill, following) = self.following(stream, slots, copier)?;
            let (issued, state) = self.ahead(stream, state, fill, copier)?;
            let known = self.remembered(stream, copier);
            later.push((issued, fill, known));
            next.states.push(state);
            next.slots.push(following);
        }
        copier.bind_all(&[from.arguments(self.bounds.block)[0]], &arguments[..1]);
        for (number, argument) in self.kept.carried.iter().zip(&arguments[1..]) {
            copier.bind(from.arguments(self.bounds.block)[*number], *argument);
        }
        self.rest(&beside, writer, copier)?;
        let last = from.ops(self.bounds.block).last().copied();
        let all = last.map(|last| copier.all(&from.op(last).operands)).unwrap_or_default();
        let mut given: Vec<Value> = self.kept.carried.iter().map(|number| all[number - 1]).collect();
        for (issued, fill, known) in later {
            known.iter().for_each(|(value, copy)| copier.bind(*value, *copy));
            self.store(&issued, fill, copier)?;
        }
        given.extend(next.values());
        Ok(given)
    }

    /// The buffer of this turn is filled, and all have read the one of the turn before.
    fn meet(&self, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let op = self.bounds.op;
        if let Some(stream) = self.streams.iter().find(|stream| stream.way == Way::Copy) {
            wait_for(op, copier, i32::try_from(stream.buffers - 2).unwrap_or(0))?;
        }
        let meets = copier.to.op(ttg::BARRIER).attribute("addrSpace", Attribute::Word("local".into())).done();
        Maker { copier, at: op }.checked(meets).map(drop)
    }

    /// The buffer that a turn fills, and the numbers that it gives to the next.
    fn following(
        &self,
        stream: &Stream,
        slots: &[Value],
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(Value, Vec<Value>), Violation> {
        let ty = Type::integer(32);
        let mut maker = Maker { copier, at: self.bounds.op };
        let (read, one) = (slots[0], maker.integer(1, &ty)?);
        match (stream.way, stream.buffers) {
            // The other of two: no number is that with its lowest bit flipped.
            (Way::Registers, _) => {
                let fill = maker.binary(arith::XORI, read, one)?;
                Ok((fill, vec![fill]))
            }
            (Way::Copy, 2) => Ok((slots[1], vec![slots[1], read])),
            (Way::Copy, buffers) => {
                let [last, zero] = [maker.integer(i64::from(buffers) - 1, &ty)?, maker.integer(0, &ty)?];
                let is_last = maker.compare("eq", read, last)?;
                let more = maker.binary(arith::ADDI, read, one)?;
                let made = maker.copier.to.op(arith::SELECT).operand(is_last).operand(zero).operand(more);
                let following = made.result(ty).value();
                // What this turn reads the next one fills.
                Ok((slots[1], vec![maker.checked(following)?, read]))
            }
        }
    }

    /// What stands for a turn that was entered, for what is stored when others have been.
    fn remembered(&self, stream: &Stream, copier: &Copier<'_, '_, '_>) -> Vec<(Value, Value)> {
        let from = copier.from;
        let arguments = from.arguments(self.bounds.block);
        let carried = std::iter::once(0).chain(stream.follows.carried.iter().copied()).map(|number| arguments[number]);
        let made = stream.follows.ops.iter().flat_map(|op| from.op(*op).results.iter().copied());
        carried.chain(made).map(|value| (value, copier.value(value))).collect()
    }

    /// What else a turn does, with what was loaded for it.
    fn rest(&self, beside: &Beside, writer: &mut Writer<'_>, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let from = copier.from;
        let maker = |number: usize| match from.origin(self.fetches[number].load.wanted) {
            Origin::Result(op, _) => Some((op, number)),
            Origin::Argument(..) => None,
        };
        let reads: BTreeMap<Op, usize> = (0..self.fetches.len()).filter_map(maker).collect();
        for &op in from.ops(self.bounds.block) {
            if let Some(&number) = reads.get(&op) {
                self.read(number, beside, copier)?;
            } else if self.kept.ops.contains(&op) {
                copier.op(op, writer)?;
            }
        }
        Ok(())
    }

    /// What was loaded for this turn, from its buffer.
    fn read(&self, number: usize, beside: &Beside, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let load = &self.fetches[number].load;
        let stream = self.streams.iter().position(|stream| stream.fetches.contains(&number)).unwrap_or(0);
        let buffer = self.buffer(number, beside.slots[stream][0], copier)?;
        let ty = copier.from.ty(load.wanted).clone();
        let mut made = copier.to.op(ttg::LOCAL_LOAD).operand(buffer).result(ty);
        if matches!(load.reader, Reader::Unit(..)) {
            made = made.attribute(IN_PLACE, Attribute::Unit);
        }
        let value = made.value().map_err(unmade(copier.function, copier.from.op(load.op)))?;
        copier.bind(load.wanted, value);
        Ok(())
    }
}
