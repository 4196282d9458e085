//! Pipelines of per-lane pointer copies from global to shared memory (`cp.async`): some copies are in flight while
//! another tensor is read.

use super::pointer_parameters::begin;
use tilewright_kernel::{Binary, Builder, CollectiveScope, Element, Kernel, Value};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::{find_memory_integer, row_major_address_emitter_from};
use tilewright_plan::movement::{AsyncCopyPlan, MovementError};

use super::copy_pipeline::{CopyPipelineConfig, OmittedSync, Ring, each_step};
use super::memory_access::read_out;

/// Builds a kernel that copies row-major tensors, contiguous in global memory, to a ring of shared buffers, and writes
/// out the contents of each buffer.
///
/// Parameters are pointers to global memory: the tensors; a table with the physical offset in bytes (`i32`) of each
/// linear offset of the memory layout; the output, one element for each linear offset of each tensor.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width; [`MovementError::Memory`] if the pipeline has fewer
/// tensors than buffers, or no buffer.
pub fn build_pointer_copy_pipeline_kernel(
    copy: &AsyncCopyPlan,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: CopyPipelineConfig,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
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
    copy: &'a AsyncCopyPlan,
    memory: &'a MemoryLayout,
    element: Element,
    stages: CopyPipelineConfig,
    ring: Ring,
}

impl Pipeline<'_> {
    /// Emits the pipeline. The prologue fills all buffers but one, each iteration fills one buffer and reads one, and
    /// the epilogue reads the rest.
    fn emit(&self, builder: &mut Builder) {
        let (prefetch_distance, tensors) = (self.stages.prefetch_distance(), self.stages.tensors);
        for tensor in 0..prefetch_distance {
            let tensor = builder.i32(tensor);
            self.copy(builder, tensor);
        }
        each_step(builder, tensors - prefetch_distance, 1, |builder, tensor| {
            let next = builder.binary_const(Binary::Add, tensor, prefetch_distance);
            self.copy(builder, next);
            self.read(builder, tensor, prefetch_distance);
        });
        for left in (0..prefetch_distance).rev() {
            let tensor = builder.i32(tensors - 1 - left);
            self.read(builder, tensor, left);
        }
        self.copy.emit_wait(builder, 0);
    }

    /// Emits the address of the tensor with the index `tensor` in the memory of a kernel parameter; each tensor has
    /// `elements` elements.
    fn block_base(&self, builder: &mut Builder, parameter: u32, tensor: Value, elements: u64) -> Value {
        let bytes = builder.binary_const(Binary::Mul, tensor, elements as u32 * self.element.bits() / 8);
        let base = builder.parameter(parameter);
        builder.ptr_add(base, bytes)
    }

    fn copy(&self, builder: &mut Builder, tensor: Value) {
        let layout = &self.copy.layout;
        let base = self.block_base(builder, 0, tensor, 1 << layout.outs().total_bits());
        let buffer = self.ring.buffer_of(builder, tensor);
        let mut addresses = row_major_address_emitter_from(builder, base, layout, self.element);
        self.copy.emit(builder, buffer, &mut addresses);
        self.copy.emit_commit(builder);
    }

    /// Emits a wait for the copy of a tensor, which leaves the `outstanding` groups that were committed after it in
    /// flight, and then a copy of its buffer to the output.
    fn read(&self, builder: &mut Builder, tensor: Value, outstanding: u32) {
        self.copy.emit_wait(builder, outstanding + u32::from(self.stages.omits(OmittedSync::Wait)));
        builder.barrier(CollectiveScope::Block);
        let buffer = self.ring.buffer_of(builder, tensor);
        let found = self.block_base(builder, 2, tensor, 1 << self.memory.linear.in_bits(Dim::OFFSET));
        read_out(builder, buffer, found, self.memory, self.element);
        if !self.stages.omits(OmittedSync::Barrier) {
            builder.barrier(CollectiveScope::Block);
        }
    }
}
