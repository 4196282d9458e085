//! Emits copies from global to shared memory.

use super::super::address::{LinearAddressEmitter, ThreadIndices};
use super::super::memory::{GlobalAccessPlan, PredicatedGlobalAddress, SharedAccessPlan};
use super::super::tile::{emit_pointer, emit_warp_branch};
use super::issued::LaneCopies;
use super::row::Role;
use super::shared_copy::{AsyncCopyPlan, CopyPath};
use tilewright_kernel::{Builder, Element, Op, Type, Value};

impl AsyncCopyPlan {
    /// Emits the copy to the shared memory at `buffer`. `emit_address` returns the global address for a register of
    /// [`AsyncCopyPlan::layout`]; the address must be valid for the whole vector, and needs a predicate for elements
    /// that may be out of bounds. A copy on a queue must then be committed and waited for; every copy needs a barrier
    /// before other threads read the data. Bulk tensor copies are emitted by
    /// [`TensorCopy::emit`](super::TensorCopy::emit); for them this function copies through registers.
    pub fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
    ) {
        match &self.path {
            CopyPath::Asynchronous(issued) => issued.emit(builder, buffer, emit_address),
            CopyPath::Plain(both) => through_registers(builder, buffer, &both.0, &both.1, emit_address),
            CopyPath::TensorCopy(copy_load_store) => {
                through_registers(builder, buffer, &copy_load_store.1, &copy_load_store.2, emit_address)
            }
        }
    }

    /// Emits the commit of the copies since the last commit as a group; emits nothing for plain copies.
    pub fn emit_commit(&self, builder: &mut Builder) {
        if let Some(queue) = self.completion_queue() {
            builder.commit(queue);
        }
    }

    /// Emits a wait until at most `outstanding` groups of copies are in flight; emits nothing for plain copies.
    pub fn emit_wait(&self, builder: &mut Builder, outstanding: u32) {
        if let Some(queue) = self.completion_queue() {
            builder.wait(queue, outstanding, &[]);
        }
    }
}

fn through_registers(
    builder: &mut Builder,
    buffer: Value,
    load: &GlobalAccessPlan,
    store: &SharedAccessPlan,
    emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
) {
    let values = load.emit_load(builder, emit_address);
    store.emit_store(builder, buffer, &values);
}

impl LaneCopies {
    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
    ) {
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let columns: Vec<u64> = self.threads.iter().map(|column| column * self.element_bytes).collect();
        let mut addresses =
            LinearAddressEmitter::new(builder, thread, buffer, &columns, self.element_bytes).padded(&self.padding);
        let active = thread.emit_are_bits_zero(builder, self.idle);
        let mut copies = Vec::new();
        for &(register, offset) in &self.groups {
            let to = addresses.emit_offset(builder, offset);
            let to = emit_pointer(builder, to);
            let PredicatedGlobalAddress { pointer, offset, predicate } = emit_address(builder, register);
            let from = emit_pointer(builder, (pointer, offset));
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
            Some(active) => emit_warp_branch(builder, active, copies),
        }
    }
}
