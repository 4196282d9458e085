//! Emits the stores and loads of an accessor (a store or load of a tensor) in shared memory.

use super::super::address::{LinearAddressEmitter, ThreadIndices};
use super::super::packing::{narrowed, wide_type, widened};
use super::Accesses;
use super::accesses::Access;
use tilewright_kernel::{Builder, Op, Value};
use tilewright_layout::Padding;
use tilewright_layout::f2::multiply_vector;

impl Accesses {
    fn addresses(
        &self,
        builder: &mut Builder,
        thread: ThreadIndices,
        buffer: Value,
        padding: &[Padding],
    ) -> LinearAddressEmitter {
        let bytes = u64::from(self.element.bits() / 8);
        let columns: Vec<u64> = self.stats.addresses.iter().map(|column| column * bytes).collect();
        LinearAddressEmitter::new(builder, thread, buffer, &columns, bytes).padded(padding)
    }
}

/// The emitter of an accessor's stores for one thread.
pub(in super::super) struct Stores<'a> {
    accesses: &'a Accesses,
    thread: ThreadIndices,
    addresses: LinearAddressEmitter,
    /// The emitted conditions so far: for a value of [`Access::issuer`](super::accesses::Access), the condition under
    /// which a thread makes such accesses; `None` if all threads do.
    makers: Vec<(u64, Option<Value>)>,
    /// For each thread bit along which threads share the work of replicas, the emitted condition that the bit is set.
    sharers: Vec<Value>,
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
        let is_set = |&(bit, _): &(u32, u64)| thread.all_ones(builder, 1 << bit);
        let sharers = accesses.shares.iter().filter_map(is_set).collect();
        Self { accesses, thread, addresses, makers: Vec::new(), sharers }
    }

    /// Emits the stores of one round (filling of the memory); `registers` has the value of every register.
    pub(in super::super) fn round(&mut self, builder: &mut Builder, round: u64, registers: &[Value]) {
        let mut by_maker: Vec<(Value, Vec<Op>)> = Vec::new();
        for access in self.accesses.of_round(round) {
            let value = self.stored_value(builder, &access, registers);
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

    /// Emits the value that an access stores. If threads with replicas share the work, selects choose each word by the
    /// thread's bits.
    fn stored_value(&self, builder: &mut Builder, access: &Access, registers: &[Value]) -> Value {
        let shares: Vec<u64> = self.accesses.shares.iter().map(|&(_, moved)| moved).collect();
        let elements = |share: u64| -> Vec<Value> {
            let moved = multiply_vector(&shares, share);
            access.registers.iter().map(|&register| registers[(register ^ moved) as usize]).collect()
        };
        if shares.is_empty() {
            return widened(builder, &elements(0));
        }
        let in_word = (32 / self.accesses.element.bits()).max(1) as usize;
        let mut words: Vec<Vec<Value>> = (0..1u64 << shares.len())
            .map(|share| elements(share).chunks(in_word).map(|chunk| widened(builder, chunk)).collect())
            .collect();
        for &sharer in &self.sharers {
            let pairs = words.chunks(2).map(|pair| pair[0].iter().zip(&pair[1]));
            words = pairs.map(|pair| pair.map(|(&off, &on)| builder.select(sharer, on, off)).collect()).collect();
        }
        widened(builder, &words[0])
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

/// Emits a branch that is uniform in a warp: if `active`, all lanes of the warp execute `ops`.
pub(in super::super) fn emit_warp_branch(builder: &mut Builder, active: Value, ops: Vec<Op>) {
    builder.if_then(Some(active), |builder| ops.into_iter().for_each(|op| builder.effect(op)));
}

/// The emitter of an accessor's loads for one thread.
pub(in super::super) struct Loads<'a> {
    accesses: &'a Accesses,
    addresses: LinearAddressEmitter,
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
