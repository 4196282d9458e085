//! Accesses of scratch memory as kernel IR.

use crate::kernel::{Builder, Cast, Element, Op, Type, Value};

use super::super::super::address::{LinearAddress, Thread};
use super::super::super::wide::{narrowed, wide_type, widened};
use super::Scratch;
use super::accesses::Accesses;

impl Accesses {
    fn addresses(&self, builder: &mut Builder, thread: Thread, buffer: Value, element: Element) -> LinearAddress {
        let bytes = u64::from(element.bits() / 8);
        let columns: Vec<u64> = self.thread_columns().iter().map(|column| column * bytes).collect();
        LinearAddress::new(builder, thread, buffer, &columns, bytes)
    }
}

impl Scratch {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let buffer = self.buffer(builder);
        let thread = Thread::new(builder, self.lane_bits);
        let mut stores = Stores::new(builder, self, thread, buffer);
        let mut loads = Loads::new(builder, self, thread, buffer);
        for round in 0..self.rounds() {
            if round > 0 {
                builder.barrier(self.scope);
            }
            stores.round(builder, round, registers);
            builder.barrier(self.scope);
            loads.round(builder, round);
        }
        loads.finish()
    }

    /// The memory, as a buffer of the kernel.
    pub(in super::super) fn buffer(&self, builder: &mut Builder) -> Value {
        builder.shared_buffer(self.bytes as u32, 16)
    }
}

/// Stores being written.
pub(in super::super) struct Stores<'a> {
    scratch: &'a Scratch,
    thread: Thread,
    addresses: LinearAddress,
    /// The conditions under which threads with these bits make accesses, as far as they were needed.
    makers: Vec<(u64, Option<Value>)>,
}

impl<'a> Stores<'a> {
    pub(in super::super) fn new(builder: &mut Builder, scratch: &'a Scratch, thread: Thread, buffer: Value) -> Self {
        let addresses = scratch.store.addresses(builder, thread, buffer, scratch.element);
        Self { scratch, thread, addresses, makers: Vec::new() }
    }

    /// Writes the stores of a round; `registers` are the values of all registers.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64, registers: &[Value]) {
        for access in self.scratch.store.of_round(round) {
            let elements: Vec<_> = access.registers.iter().map(|&r| registers[r as usize]).collect();
            let value = widened(builder, &elements);
            let place = self.addresses.at(builder, access.offset);
            match self.scratch.store.instruction() {
                None => {
                    let active = self.active(builder, access.made_by);
                    builder.store(place.0, place.1, value, active);
                }
                Some(name) => {
                    let pointer = moved(builder, place);
                    let words = words(builder, value);
                    builder.effect(Op::Instruction { name: name.to_owned(), operands: vec![pointer, words] });
                }
            }
        }
    }

    fn active(&mut self, builder: &mut Builder, made_by: u64) -> Option<Value> {
        let known = self.makers.iter().find(|(maker, _)| *maker == made_by).map(|&(_, active)| active);
        known.unwrap_or_else(|| {
            let active = self.thread.has(builder, self.scratch.store.idle(), made_by);
            self.makers.push((made_by, active));
            active
        })
    }
}

/// Loads being written.
pub(in super::super) struct Loads<'a> {
    scratch: &'a Scratch,
    addresses: LinearAddress,
    /// By register what was loaded for it.
    loaded: Vec<Option<Value>>,
}

impl<'a> Loads<'a> {
    pub(in super::super) fn new(builder: &mut Builder, scratch: &'a Scratch, thread: Thread, buffer: Value) -> Self {
        let addresses = scratch.load.addresses(builder, thread, buffer, scratch.element);
        Self { scratch, addresses, loaded: vec![None; 1 << scratch.loaded_as.len()] }
    }

    /// Writes the loads of a round.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64) {
        let element = self.scratch.element;
        for access in self.scratch.load.of_round(round) {
            let count = access.registers.len() as u32;
            let place = self.addresses.at(builder, access.offset);
            let value = match self.scratch.load.instruction() {
                None => builder.load(wide_type(element, count), place.0, place.1, None),
                Some(name) => {
                    let pointer = moved(builder, place);
                    let ty = Type::of(Element::I32, element.bits() * count / 32);
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
        let loaded_as = &self.scratch.loaded_as;
        let registers = 0..1u64 << loaded_as.len();
        registers.filter_map(|register| self.loaded[crate::f2::multiply(loaded_as, register) as usize]).collect()
    }
}

/// A pointer with its immediate, as instructions take it.
fn moved(builder: &mut Builder, (pointer, offset): (Value, i32)) -> Value {
    if offset == 0 {
        return pointer;
    }
    let offset = builder.i32(offset as u32);
    builder.advance(pointer, offset)
}

/// A value as 32-bit words.
fn words(builder: &mut Builder, value: Value) -> Value {
    let ty = Type::of(Element::I32, builder.type_of(value).bits() / 32);
    builder.cast(Cast::Bits, value, ty)
}
