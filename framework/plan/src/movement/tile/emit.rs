//! Accesses of memory as kernel IR.

use super::super::address::{LinearAddress, Thread};
use super::super::wide::{narrowed, wide_type, widened};
use super::Accesses;
use tilewright_kernel::{Builder, Op, Value};
use tilewright_layout::Padding;

impl Accesses {
    fn addresses(&self, builder: &mut Builder, thread: Thread, buffer: Value, padding: &[Padding]) -> LinearAddress {
        let bytes = u64::from(self.element.bits() / 8);
        let columns: Vec<u64> = self.stats.addresses.iter().map(|column| column * bytes).collect();
        LinearAddress::new(builder, thread, buffer, &columns, bytes).padded(padding)
    }
}

/// Stores being written.
pub(in super::super) struct Stores<'a> {
    accesses: &'a Accesses,
    thread: Thread,
    addresses: LinearAddress,
    /// The conditions under which threads with these bits make accesses, as far as they were needed.
    makers: Vec<(u64, Option<Value>)>,
}

impl<'a> Stores<'a> {
    pub(in super::super) fn new(
        builder: &mut Builder,
        accesses: &'a Accesses,
        thread: Thread,
        buffer: Value,
        padding: &[Padding],
    ) -> Self {
        let addresses = accesses.addresses(builder, thread, buffer, padding);
        Self { accesses, thread, addresses, makers: Vec::new() }
    }

    /// Writes the stores of a round; `registers` are the values of all registers.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64, registers: &[Value]) {
        let mut by_maker: Vec<(Value, Vec<Op>)> = Vec::new();
        for access in self.accesses.of_round(round) {
            let elements: Vec<_> = access.registers.iter().map(|&register| registers[register as usize]).collect();
            let value = widened(builder, &elements);
            let (pointer, offset) = self.addresses.at(builder, access.offset);
            let Some(name) = self.accesses.instruction() else {
                let active = self.active(builder, access.made_by);
                builder.store(pointer, offset, value, active);
                continue;
            };
            let pointer = moved(builder, (pointer, offset));
            let op = Op::Instruction { name: name.to_owned(), operands: vec![pointer, value] };
            match self.active(builder, access.made_by) {
                None => builder.effect(op),
                Some(active) => match by_maker.iter_mut().find(|(known, _)| *known == active) {
                    Some((_, ops)) => ops.push(op),
                    None => by_maker.push((active, vec![op])),
                },
            }
        }
        by_maker.into_iter().for_each(|(active, ops)| only_where(builder, active, ops));
    }

    fn active(&mut self, builder: &mut Builder, made_by: u64) -> Option<Value> {
        let known = self.makers.iter().find(|(maker, _)| *maker == made_by).map(|&(_, active)| active);
        known.unwrap_or_else(|| {
            let active = self.thread.has(builder, self.accesses.stats.idle, made_by);
            self.makers.push((made_by, active));
            active
        })
    }
}

/// A branch of whole warps around instructions that all lanes must take part in.
pub(in super::super) fn only_where(builder: &mut Builder, active: Value, ops: Vec<Op>) {
    builder.begin_region(&[]);
    ops.into_iter().for_each(|op| builder.effect(op));
    let then = builder.end_region(&[]);
    builder.begin_region(&[]);
    let otherwise = builder.end_region(&[]);
    builder.if_else(active, then, otherwise, &[]);
}

/// Loads being written.
pub(in super::super) struct Loads<'a> {
    accesses: &'a Accesses,
    addresses: LinearAddress,
    /// By register what was loaded for it.
    loaded: Vec<Option<Value>>,
}

impl<'a> Loads<'a> {
    pub(in super::super) fn new(
        builder: &mut Builder,
        accesses: &'a Accesses,
        thread: Thread,
        buffer: Value,
        padding: &[Padding],
    ) -> Self {
        let addresses = accesses.addresses(builder, thread, buffer, padding);
        Self { accesses, addresses, loaded: vec![None; accesses.registers() as usize] }
    }

    /// Writes the loads of a round.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64) {
        let element = self.accesses.element;
        for access in self.accesses.of_round(round) {
            let count = access.registers.len() as u32;
            let place = self.addresses.at(builder, access.offset);
            let ty = wide_type(element, count);
            let value = match self.accesses.instruction() {
                None => builder.load(ty, place.0, place.1, None),
                Some(name) => {
                    let pointer = moved(builder, place);
                    builder.value(ty, Op::Instruction { name: name.to_owned(), operands: vec![pointer] })
                }
            };
            let elements = narrowed(builder, value, element, count);
            for (&register, element) in access.registers.iter().zip(elements) {
                self.loaded[register as usize] = Some(element);
            }
        }
    }

    /// One value for each register; registers that hold copies have what was loaded for another.
    pub(in super::super) fn finish(self) -> Vec<Value> {
        let registers = 0..self.accesses.registers();
        registers.filter_map(|register| self.loaded[self.accesses.moved_as(register) as usize]).collect()
    }
}

/// A pointer with its immediate, as instructions take it.
pub(in super::super) fn moved(builder: &mut Builder, (pointer, offset): (Value, i32)) -> Value {
    if offset == 0 {
        return pointer;
    }
    let offset = builder.i32(offset as u32);
    builder.advance(pointer, offset)
}
