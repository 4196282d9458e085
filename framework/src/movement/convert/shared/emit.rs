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
        let buffer = builder.shared_buffer(self.bytes as u32, 16);
        let thread = Thread::new(builder, self.lane_bits);
        let mut store = self.store.addresses(builder, thread, buffer, self.element);
        let mut load = self.load.addresses(builder, thread, buffer, self.element);
        let mut makers: Vec<(u64, Option<Value>)> = Vec::new();
        let mut loaded: Vec<Option<Value>> = vec![None; 1 << self.loaded_as.len()];
        for round in 0..self.rounds() {
            if round > 0 {
                builder.barrier(self.scope);
            }
            for access in self.store.of_round(round) {
                let elements: Vec<_> = access.registers.iter().map(|&r| registers[r as usize]).collect();
                let value = widened(builder, &elements);
                let place = store.at(builder, access.offset);
                match self.store.instruction() {
                    None => {
                        let made_by = access.made_by;
                        let known = makers.iter().find(|(maker, _)| *maker == made_by).map(|&(_, active)| active);
                        let active = known.unwrap_or_else(|| {
                            let active = thread.has(builder, self.store.idle(), made_by);
                            makers.push((made_by, active));
                            active
                        });
                        builder.store(place.0, place.1, value, active);
                    }
                    Some(name) => {
                        let pointer = moved(builder, place);
                        let words = words(builder, value);
                        builder.effect(Op::Instruction { name: name.to_owned(), operands: vec![pointer, words] });
                    }
                }
            }
            builder.barrier(self.scope);
            for access in self.load.of_round(round) {
                let count = access.registers.len() as u32;
                let place = load.at(builder, access.offset);
                let value = match self.load.instruction() {
                    None => builder.load(wide_type(self.element, count), place.0, place.1, None),
                    Some(name) => {
                        let pointer = moved(builder, place);
                        let ty = Type::of(Element::I32, self.element.bits() * count / 32);
                        builder.value(ty, Op::Instruction { name: name.to_owned(), operands: vec![pointer] })
                    }
                };
                let elements = narrowed(builder, value, self.element, count);
                for (&register, element) in access.registers.iter().zip(elements) {
                    loaded[register as usize] = Some(element);
                }
            }
        }
        let registers = 0..1u64 << self.loaded_as.len();
        registers.filter_map(|register| loaded[crate::f2::multiply(&self.loaded_as, register) as usize]).collect()
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
