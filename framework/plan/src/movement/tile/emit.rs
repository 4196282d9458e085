//! Emits the stores and loads of an accessor (a store or load of a tensor) in shared memory.

use super::super::address::{LinearAddress, ThreadIndices};
use super::super::packing::{narrowed, wide_type, widened};
use super::Accesses;
use tilewright_kernel::{Builder, Op, Value};
use tilewright_layout::Padding;

impl Accesses {
    fn addresses(
        &self,
        builder: &mut Builder,
        thread: ThreadIndices,
        buffer: Value,
        padding: &[Padding],
    ) -> LinearAddress {
        let bytes = u64::from(self.element.bits() / 8);
        let columns: Vec<u64> = self.stats.addresses.iter().map(|column| column * bytes).collect();
        LinearAddress::new(builder, thread, buffer, &columns, bytes).padded(padding)
    }
}

/// The emitter of an accessor's stores for one thread.
pub(in super::super) struct Stores<'a> {
    accesses: &'a Accesses,
    thread: ThreadIndices,
    addresses: LinearAddress,
    /// For the thread bits of an access ([`Access::issuer`](super::accesses::Access)), the emitted condition under
    /// which a thread makes it; `None` if all threads do.
    makers: Vec<(u64, Option<Value>)>,
}

impl<'a> Stores<'a> {
    pub(in super::super) fn new(
        builder: &mut Builder,
        accesses: &'a Accesses,
        thread: ThreadIndices,
        buffer: Value,
        padding: &[Padding],
    ) -> Self {
        let addresses = accesses.addresses(builder, thread, buffer, padding);
        Self { accesses, thread, addresses, makers: Vec::new() }
    }

    /// Emits the stores of one round (filling of the memory); `registers` has the value of every register.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64, registers: &[Value]) {
        let mut by_maker: Vec<(Value, Vec<Op>)> = Vec::new();
        for access in self.accesses.of_round(round) {
            let elements: Vec<_> = access.registers.iter().map(|&register| registers[register as usize]).collect();
            let value = widened(builder, &elements);
            let (pointer, offset) = self.addresses.emit_offset(builder, access.offset);
            let Some(name) = self.accesses.instruction() else {
                let active = self.active(builder, access.issuer);
                builder.store(pointer, offset, value, active);
                continue;
            };
            let pointer = emit_pointer(builder, (pointer, offset));
            let op = Op::Instruction { name: name.to_owned(), operands: vec![pointer, value] };
            match self.active(builder, access.issuer) {
                None => builder.effect(op),
                Some(active) => match by_maker.iter_mut().find(|(known, _)| *known == active) {
                    Some((_, ops)) => ops.push(op),
                    None => by_maker.push((active, vec![op])),
                },
            }
        }
        by_maker.into_iter().for_each(|(active, ops)| emit_warp_branch(builder, active, ops));
    }

    fn active(&mut self, builder: &mut Builder, issuer: u64) -> Option<Value> {
        let known = self.makers.iter().find(|(maker, _)| *maker == issuer).map(|&(_, active)| active);
        known.unwrap_or_else(|| {
            let active = self.thread.has(builder, self.accesses.stats.idle, issuer);
            self.makers.push((issuer, active));
            active
        })
    }
}

/// Emits a warp-uniform branch around `ops`, which all lanes of a warp must execute if `active` holds.
pub(in super::super) fn emit_warp_branch(builder: &mut Builder, active: Value, ops: Vec<Op>) {
    builder.begin_region(&[]);
    ops.into_iter().for_each(|op| builder.effect(op));
    let then = builder.end_region(&[]);
    builder.begin_region(&[]);
    let otherwise = builder.end_region(&[]);
    builder.if_else(active, then, otherwise, &[]);
}

/// The emitter of an accessor's loads for one thread.
pub(in super::super) struct Loads<'a> {
    accesses: &'a Accesses,
    addresses: LinearAddress,
    /// The loaded value of each register; `None` if it has not been loaded yet.
    loaded: Vec<Option<Value>>,
}

impl<'a> Loads<'a> {
    pub(in super::super) fn new(
        builder: &mut Builder,
        accesses: &'a Accesses,
        thread: ThreadIndices,
        buffer: Value,
        padding: &[Padding],
    ) -> Self {
        let addresses = accesses.addresses(builder, thread, buffer, padding);
        Self { accesses, addresses, loaded: vec![None; accesses.registers() as usize] }
    }

    /// Emits the loads of one round (filling of the memory).
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64) {
        let element = self.accesses.element;
        for access in self.accesses.of_round(round) {
            let count = access.registers.len() as u32;
            let base_and_offset = self.addresses.emit_offset(builder, access.offset);
            let ty = wide_type(element, count);
            let value = match self.accesses.instruction() {
                None => builder.load(ty, base_and_offset.0, base_and_offset.1, None),
                Some(name) => {
                    let pointer = emit_pointer(builder, base_and_offset);
                    builder.value(ty, Op::Instruction { name: name.to_owned(), operands: vec![pointer] })
                }
            };
            let elements = narrowed(builder, value, element, count);
            for (&register, element) in access.registers.iter().zip(elements) {
                self.loaded[register as usize] = Some(element);
            }
        }
    }

    /// Returns one value for each register; a register that holds a replica gets the value that was loaded for another
    /// register.
    pub(in super::super) fn finish(self) -> Vec<Value> {
        let registers = 0..self.accesses.registers();
        registers.filter_map(|register| self.loaded[self.accesses.moved_as(register) as usize]).collect()
    }
}

/// Emits the sum of a pointer and its immediate offset, for instructions without an immediate field.
pub(in super::super) fn emit_pointer(builder: &mut Builder, (pointer, offset): (Value, i32)) -> Value {
    if offset == 0 {
        return pointer;
    }
    let offset = builder.i32(offset as u32);
    builder.ptr_add(pointer, offset)
}
