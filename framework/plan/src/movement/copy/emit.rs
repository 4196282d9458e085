//! Copies as kernel IR.

use super::super::address::{LinearAddress, Thread};
use super::super::memory::{GlobalAccess, GlobalPlace, SharedAccess};
use super::super::tile::{moved, only_where};
use super::issued::Issued;
use super::row::Role;
use super::shared_copy::{SharedCopy, Way};
use tilewright_kernel::{Builder, Element, Op, Type, Value};

impl SharedCopy {
    /// Writes the copy to the shared memory at `buffer`. `place` says where a register of [`SharedCopy::layout`] lies in
    /// global memory; it must hold for its whole vector, and its predicate for elements that may not be
    /// there. A copy on a queue must then be committed and waited for; in any case a barrier must come before others
    /// read what it brought. Boxes are copied by [`TensorCopy::emit`](super::TensorCopy::emit); for them this goes through
    /// registers.
    pub fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
    ) {
        match &self.way {
            Way::Asynchronous(issued) => issued.emit(builder, buffer, place),
            Way::Plain(both) => through_registers(builder, buffer, &both.0, &both.1, place),
            Way::Boxes(parts) => through_registers(builder, buffer, &parts.1, &parts.2, place),
        }
    }

    /// Closes the group of the copies that were written since the last; nothing for plain ones.
    pub fn emit_commit(&self, builder: &mut Builder) {
        if let Some(queue) = self.queue() {
            builder.commit(queue);
        }
    }

    /// Waits until at most so many groups are outstanding; nothing for plain copies.
    pub fn emit_wait(&self, builder: &mut Builder, outstanding: u32) {
        if let Some(queue) = self.queue() {
            builder.wait(queue, outstanding, &[]);
        }
    }
}

fn through_registers(
    builder: &mut Builder,
    buffer: Value,
    load: &GlobalAccess,
    store: &SharedAccess,
    place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
) {
    let values = load.emit_load(builder, place);
    store.emit_store(builder, buffer, &values);
}

impl Issued {
    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
    ) {
        let thread = Thread::new(builder, self.lane_bits);
        let columns: Vec<u64> = self.threads.iter().map(|column| column * self.element_bytes).collect();
        let mut addresses =
            LinearAddress::new(builder, thread, buffer, &columns, self.element_bytes).padded(&self.padding);
        let active = thread.all_zero(builder, self.idle);
        let mut copies = Vec::new();
        for &(register, offset) in &self.groups {
            let to = addresses.at(builder, offset);
            let to = moved(builder, to);
            let GlobalPlace { pointer, offset, predicate } = place(builder, register);
            let from = moved(builder, (pointer, offset));
            let reads =
                |builder: &mut Builder| predicate.unwrap_or_else(|| builder.constant(Type::Scalar(Element::I1), 1));
            let operand = |role: &Role| match role {
                Role::To => to,
                Role::From => from,
                Role::Predicate => reads(builder),
            };
            let operands = self.roles.iter().map(operand).collect();
            copies.push(Op::Instruction { name: self.name.clone(), operands });
        }
        match active {
            None => copies.into_iter().for_each(|copy| builder.effect(copy)),
            Some(active) => only_where(builder, active, copies),
        }
    }
}
