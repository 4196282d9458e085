//! Kernels around copies from global to shared memory by the addresses of each lane (`cp.async`), in stages: some copies are in
//! flight while another tensor is read.

use super::pointer_parameters::begin;
use tilewright_kernel::{Binary, Builder, Element, Kernel, Scope, Value};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::{integer, row_major_places_from};
use tilewright_plan::movement::{MovementError, SharedCopy};

use super::copy_pipeline::{OmittedSync, Ring, Stages, each_step};
use super::memory_access::read_out;

/// A kernel that copies row-major tensors, which follow each other in global memory, to buffers of shared memory in
/// turn, and writes out what each then holds.
///
/// Parameters are pointers to global memory: the tensors; for each linear offset of the memory the physical offset
/// in bytes, as `i32`; what is found, one element for each linear offset of each tensor.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width; [`MovementError::Memory`] for fewer tensors than
/// buffers, or none.
pub fn pointer_copy_kernel(
    copy: &SharedCopy,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: Stages,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    stages.check()?;
    let mut builder = begin("copy", &copy.layout, &["tensors", "places", "found"]);
    let alignment = copy.alignment().max(16);
    let pitch = memory.allocated_bytes(element_bits).next_multiple_of(alignment) as u32;
    let start = builder.shared_buffer(pitch * stages.buffers, alignment as u32);
    let ring = Ring { start, pitch, buffers: stages.buffers };
    Pipeline { copy, memory, element, stages, ring }.emit(&mut builder);
    Ok(builder.finish())
}

struct Pipeline<'a> {
    copy: &'a SharedCopy,
    memory: &'a MemoryLayout,
    element: Element,
    stages: Stages,
    ring: Ring,
}

impl Pipeline<'_> {
    /// All buffers but one are filled first; then each iteration fills one and reads one; then the rest is read.
    fn emit(&self, builder: &mut Builder) {
        let (ahead, tensors) = (self.stages.ahead(), self.stages.tensors);
        for tensor in 0..ahead {
            let tensor = builder.i32(tensor);
            self.copy(builder, tensor);
        }
        each_step(builder, tensors - ahead, 1, |builder, tensor| {
            let next = builder.binary_const(Binary::Add, tensor, ahead);
            self.copy(builder, next);
            self.read(builder, tensor, ahead);
        });
        for left in (0..ahead).rev() {
            let tensor = builder.i32(tensors - 1 - left);
            self.read(builder, tensor, left);
        }
        self.copy.emit_wait(builder, 0);
    }

    /// The tensor's part of a parameter's memory.
    fn part(&self, builder: &mut Builder, parameter: u32, tensor: Value, elements: u64) -> Value {
        let bytes = builder.binary_const(Binary::Mul, tensor, elements as u32 * self.element.bits() / 8);
        let base = builder.parameter(parameter);
        builder.advance(base, bytes)
    }

    fn copy(&self, builder: &mut Builder, tensor: Value) {
        let layout = &self.copy.layout;
        let base = self.part(builder, 0, tensor, 1 << layout.outs().bits());
        let buffer = self.ring.slot(builder, tensor);
        let mut places = row_major_places_from(builder, base, layout, self.element);
        self.copy.emit(builder, buffer, &mut places);
        self.copy.emit_commit(builder);
    }

    /// Waits for the tensor's copy, after which so many others were committed, and writes out what it brought.
    fn read(&self, builder: &mut Builder, tensor: Value, outstanding: u32) {
        self.copy.emit_wait(builder, outstanding + u32::from(self.stages.omits(OmittedSync::Wait)));
        builder.barrier(Scope::Block);
        let buffer = self.ring.slot(builder, tensor);
        let found = self.part(builder, 2, tensor, 1 << self.memory.linear.in_bits(Dim::OFFSET));
        read_out(builder, buffer, found, self.memory, self.element);
        if !self.stages.omits(OmittedSync::Barrier) {
            builder.barrier(Scope::Block);
        }
    }
}
