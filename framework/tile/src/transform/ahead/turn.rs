//! The state of a turn that is ahead: its counter, whether there is such a turn, and what the loop carries to where it loads.

use super::follows::Follows;
use super::{Fetch, Load, REGISTER_BUFFERS, Way};
use crate::op::name::{arith, scf, ttg};
use crate::transform::Copier;
use crate::transform::explicit::Maker;
use crate::{Block, Op, Type, Value, Violation};

/// The loads of a loop that go the same way, so many turns ahead.
#[derive(Debug)]
pub(super) struct Stream {
    pub way: Way,
    pub buffers: u32,
    /// Which of the loop's loads they are.
    pub fetches: Vec<usize>,
    pub follows: Follows,
}

impl Stream {
    /// Turns by which they go ahead.
    pub fn ahead(&self) -> u32 {
        match self.way {
            Way::Copy => self.buffers - 1,
            Way::Registers => REGISTER_BUFFERS - 1,
        }
    }
}

/// A turn of the loop, in the function that is made.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub counter: Value,
    /// Whether the loop has it, a bit.
    pub there: Value,
    /// Of what the loop carries what a stream depends on.
    pub carried: Vec<Value>,
}

impl State {
    /// All of it, as the loop carries it.
    pub fn values(&self) -> Vec<Value> {
        [self.counter, self.there].iter().chain(&self.carried).copied().collect()
    }

    /// The same of as many values as it has, taken from the front.
    pub fn taken(&self, values: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let (counter, there) = (values.next()?, values.next()?);
        let carried: Vec<Value> = values.take(self.carried.len()).collect();
        Some(Self { counter, there, carried })
    }
}

/// Where the turns of a loop are counted.
pub(super) struct Bounds {
    pub op: Op,
    pub block: Block,
    pub begin: Value,
    pub end: Value,
    pub step: Value,
    /// Whether they are compared without a sign.
    pub unsigned: bool,
}

impl Bounds {
    /// The first turn, of a loop that begins with these values.
    pub fn first(&self, follows: &Follows, initial: &[Value], at: &mut Copier<'_, '_, '_>) -> Result<State, Violation> {
        let less = if self.unsigned { "ult" } else { "slt" };
        let there = Maker { copier: at, at: self.op }.compare(less, self.begin, self.end)?;
        let carried = follows.carried.iter().map(|number| initial[number - 1]).collect();
        Ok(State { counter: self.begin, there, carried })
    }

    /// Lets the loop's own values stand for those of a turn, and does what its loads follow from.
    pub fn enter(&self, follows: &Follows, state: &State, at: &mut Copier<'_, '_, '_>) {
        let arguments = at.from.arguments(self.block).to_vec();
        at.bind(arguments[0], state.counter);
        for (number, value) in follows.carried.iter().zip(&state.carried) {
            at.bind(arguments[*number], *value);
        }
        for &op in &follows.ops {
            let operands = at.all(&at.from.op(op).operands);
            at.add(op, operands, Vec::new());
        }
    }

    /// The turn after the one that was entered. Of a turn that there is the distance to the end is a number without a sign
    /// that the type holds, so that nothing runs over where the counter does.
    pub fn next(&self, follows: &Follows, state: &State, at: &mut Copier<'_, '_, '_>) -> Result<State, Violation> {
        let last = at.from.ops(self.block).last().copied();
        let given = last.map(|last| at.all(&at.from.op(last).operands)).unwrap_or_default();
        let carried = follows.carried.iter().map(|number| given[number - 1]).collect();
        let mut maker = Maker { copier: at, at: self.op };
        let left = maker.binary(arith::SUBI, self.end, state.counter)?;
        let more = maker.compare("ugt", left, self.step)?;
        let there = maker.binary(arith::ANDI, state.there, more)?;
        let counter = maker.binary(arith::ADDI, state.counter, self.step)?;
        Ok(State { counter, there, carried })
    }
}

/// Loaded values of the streams' loads, by their numbers in the loop: what goes by registers is stored later.
pub(super) struct Issued {
    pub values: Vec<(usize, Value)>,
}

/// Issues the loads of a turn that was entered, where there is such a turn. `buffer` gives the buffer of a copy.
pub(super) fn issue(
    bounds: &Bounds,
    (stream, fetches): (&Stream, &[Fetch]),
    state: &State,
    at: &mut Copier<'_, '_, '_>,
    buffer: &mut dyn FnMut(&mut Copier<'_, '_, '_>, usize) -> Result<Value, Violation>,
) -> Result<Issued, Violation> {
    let wrong = super::super::unmade(at.function, at.from.op(bounds.op));
    let (then, around) = at.to.enter_region(Vec::new());
    let mut loaded = Vec::new();
    for &number in &stream.fetches {
        let load = fetches[number].load.op;
        match stream.way {
            Way::Copy => {
                let into = buffer(at, number)?;
                copy(&fetches[number].load, into, at)?;
            }
            Way::Registers => {
                let operands = at.all(&at.from.op(load).operands);
                at.add(load, operands, Vec::new());
                loaded.push(at.value(at.from.op(load).results[0]));
            }
        }
    }
    at.to.op(scf::YIELD).operands("results", &loaded).done().map_err(&wrong)?;
    at.to.at(around);
    if loaded.is_empty() {
        at.to.op(scf::IF).operand(state.there).made_region(then).empty_region().done().map_err(&wrong)?;
        return Ok(Issued { values: Vec::new() });
    }
    let types: Vec<Type> = loaded.iter().map(|value| at.to.ty(*value).clone()).collect();
    let (otherwise, around) = at.to.enter_region(Vec::new());
    let zeros = types.iter().map(|ty| Maker { copier: at, at: bounds.op }.zeros(ty));
    let zeros = zeros.collect::<Result<Vec<_>, _>>()?;
    at.to.op(scf::YIELD).operands("results", &zeros).done().map_err(&wrong)?;
    at.to.at(around);
    let mut made = at.to.op(scf::IF).operand(state.there).made_region(then).made_region(otherwise);
    for ty in types {
        made = made.result(ty);
    }
    let values = made.values().map_err(&wrong)?;
    Ok(Issued { values: stream.fetches.iter().copied().zip(values).collect() })
}

/// A load as a copy to a buffer. What turns its value round turns round where it is loaded from.
fn copy(load: &Load, into: Value, at: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
    let (from, function) = (at.from, at.function);
    let wrong = super::super::unmade(function, from.op(load.op));
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for group in ["ptr", "mask", "other"] {
        let mut values = at.all(from.operands(load.op, group)).to_vec();
        for turned in &load.chain {
            let operation = from.op(*turned);
            let shape = from.ty(operation.results[0]);
            for value in &mut values {
                let ty = shape.with_element(at.to.ty(*value).element().clone());
                let mut made = at.to.op(operation.name()).operand(*value).result(ty);
                for (name, attribute) in operation.attributes.iter() {
                    made = made.attribute(name, attribute.clone());
                }
                *value = made.value().map_err(&wrong)?;
            }
        }
        groups.push(values);
    }
    let copy = at.to.op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL).operands("src", &groups[0]).operands("result", &[into]);
    let mut copy = copy.operands("mask", &groups[1]).operands("other", &groups[2]).result(Type::Token);
    if let Some(policy) = from.op(load.op).attributes.get("cachePolicy") {
        copy = copy.attribute("cachePolicy", policy.clone());
    }
    copy.done().map(drop).map_err(wrong)
}
