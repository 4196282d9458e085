//! Pipelines of bulk tensor copies (TMA): copies of a tensor's tiles fill some shared buffers while another is read;
//! and the reverse, which stores tiles.

use tilewright_kernel::{
    Binary, Builder, CollectiveScope, Element, Kernel, MemorySpace, Op, Parameter, Queue, StaticLaunchConfig, Type,
    Value,
};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::find_memory_integer;
use tilewright_plan::movement::{MovementError, TensorCopy, TensorCopyGlobalTile, emit_on_first_warp};

use super::copy_pipeline::{CopyPipelineConfig, OmittedSync, Ring, each_index, each_step};

/// Builds a kernel of `launch` that copies tiles of a tensor by bulk tensor copies: to a ring of shared buffers, whose
/// contents it writes out, or, if the copy is a store, from buffers that it has filled to the tensor.
///
/// Parameters: the tensor map; the origin of each tile, an `i32` for each of the copy's axes; the contents of shared
/// memory for each tile, in memory order.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width; [`MovementError::Memory`] if the pipeline has fewer
/// tiles than buffers, or no buffer.
pub fn build_tensor_copy_kernel(
    copy: &TensorCopy,
    memory: &MemoryLayout,
    launch: StaticLaunchConfig,
    stages: CopyPipelineConfig,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(copy.map.element_bits)?;
    stages.check()?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let parameters = vec![
        Parameter::tensor_map("tensor", copy.map.clone()),
        Parameter::scalar_or_pointer("origins", pointer),
        Parameter::scalar_or_pointer("held", pointer),
    ];
    let mut builder = Builder::with_parameters("copy", launch, parameters);
    let bytes = memory.allocated_bytes(element.bits());
    let pitch = bytes.next_multiple_of(copy.alignment) as u32;
    let start = builder.shared_buffer(pitch * stages.buffers, copy.alignment as u32);
    let ring = Ring { start, pitch, buffers: stages.buffers };
    let offsets = 1 << memory.linear.in_bits(Dim::OFFSET);
    let pipeline = Pipeline { copy, element, stages, offsets, ring };
    match copy.completion_queue() {
        None => pipeline.load(&mut builder),
        Some(queue) => pipeline.store(&mut builder, queue),
    }
    Ok(builder.finish())
}

struct Pipeline<'a> {
    copy: &'a TensorCopy,
    element: Element,
    stages: CopyPipelineConfig,
    /// Number of elements of a buffer.
    offsets: u32,
    ring: Ring,
}

impl Pipeline<'_> {
    /// Emits the load pipeline. One buffer is read while the others are filled; each has an mbarrier, which completes
    /// one phase for each tile.
    fn load(&self, builder: &mut Builder) {
        let (prefetch_distance, tiles) = (self.stages.prefetch_distance(), self.stages.tensors);
        let start = builder.shared_buffer(8 * self.stages.buffers, 8);
        let full = Ring { start, pitch: 8, buffers: self.stages.buffers };
        emit_on_first_warp(builder, None, |builder| {
            for stage in 0..self.stages.buffers {
                let bytes = builder.i32(8 * stage);
                let pointer = builder.ptr_add(start, bytes);
                builder.effect(Op::MbarrierInit { pointer, arrivals: 1 });
            }
            if !self.stages.omits(OmittedSync::Fence) {
                builder.proxy_fence();
            }
        });
        builder.barrier(CollectiveScope::Block);
        for tile in 0..prefetch_distance {
            let tile = builder.i32(tile);
            self.fill(builder, full, tile);
        }
        each_step(builder, tiles - prefetch_distance, 1, |builder, tile| {
            let next = builder.binary_const(Binary::Add, tile, prefetch_distance);
            self.fill(builder, full, next);
            self.read(builder, full, tile);
        });
        for tile in tiles - prefetch_distance..tiles {
            let tile = builder.i32(tile);
            self.read(builder, full, tile);
        }
    }

    fn fill(&self, builder: &mut Builder, full: Ring, tile: Value) {
        let (mbarrier, buffer) = (full.buffer_of(builder, tile), self.ring.buffer_of(builder, tile));
        emit_on_first_warp(builder, None, |builder| self.copy(builder, buffer, tile, mbarrier));
    }

    fn read(&self, builder: &mut Builder, full: Ring, tile: Value) {
        let mbarrier = full.buffer_of(builder, tile);
        let buffers = builder.i32(self.stages.buffers);
        let mut phase = builder.binary(Binary::DivU, tile, buffers);
        if self.stages.omits(OmittedSync::Wait) {
            // Without the wait for this phase: the parity belongs to the previous phase, which has completed, or to
            // phase -1, which counts as completed.
            phase = builder.binary_const(Binary::Add, phase, 1);
        }
        let phase = builder.binary_const(Binary::And, phase, 1);
        builder.mbarrier_wait(mbarrier, phase);
        self.each_element(builder, tile, |builder, ty, [address, shared_contents], active| {
            let value = builder.load(ty, address, 0, active);
            builder.store(shared_contents, 0, value, active);
        });
        if !self.stages.omits(OmittedSync::Barrier) {
            builder.barrier(CollectiveScope::Block);
        }
    }

    /// Emits the store pipeline. A buffer is refilled once the copies of its previous tiles have completed.
    fn store(&self, builder: &mut Builder, queue: Queue) {
        each_step(builder, self.stages.tensors, 1, |builder, tile| {
            let outstanding = self.stages.prefetch_distance() + u32::from(self.stages.omits(OmittedSync::Wait));
            emit_on_first_warp(builder, None, |builder| drop(builder.wait(queue, outstanding, &[])));
            builder.barrier(CollectiveScope::Block);
            self.each_element(builder, tile, |builder, ty, [address, shared_contents], active| {
                let value = builder.load(ty, shared_contents, 0, active);
                builder.store(address, 0, value, active);
            });
            if !self.stages.omits(OmittedSync::Fence) {
                builder.proxy_fence();
            }
            if !self.stages.omits(OmittedSync::Barrier) {
                builder.barrier(CollectiveScope::Block);
            }
            let buffer = self.ring.buffer_of(builder, tile);
            emit_on_first_warp(builder, None, |builder| self.copy(builder, buffer, tile, buffer));
        });
        emit_on_first_warp(builder, None, |builder| drop(builder.wait(queue, 0, &[])));
    }

    fn copy(&self, builder: &mut Builder, buffer: Value, tile: Value, mbarrier: Value) {
        let axes = self.copy.axes.len() as u32;
        let bytes = builder.binary_const(Binary::Mul, tile, 4 * axes);
        let origins = builder.parameter(1);
        let origins = builder.ptr_add(origins, bytes);
        let coordinate = |axis: u32| builder.load(Type::Scalar(Element::I32), origins, 4 * axis.cast_signed(), None);
        let origin: Vec<Value> = (0..axes).map(coordinate).collect();
        let source = TensorCopyGlobalTile { map: builder.parameter(0), origin: &origin };
        self.copy.emit(builder, buffer, source, mbarrier);
    }

    /// Emits a loop that distributes the elements of a tile's buffer over the threads. `act` gets the element type, the
    /// element's addresses in the shared buffer and in the global memory for its contents, and a predicate if some
    /// threads have no element.
    fn each_element(
        &self,
        builder: &mut Builder,
        tile: Value,
        act: impl FnOnce(&mut Builder, Type, [Value; 2], Option<Value>),
    ) {
        let bytes = self.element.bits() / 8;
        let buffer = self.ring.buffer_of(builder, tile);
        let before = builder.binary_const(Binary::Mul, tile, self.offsets * bytes);
        let shared_contents = builder.parameter(2);
        let shared_contents = builder.ptr_add(shared_contents, before);
        each_index(builder, self.offsets, |builder, index, active| {
            let at = builder.binary_const(Binary::Mul, index, bytes);
            let addresses = [buffer, shared_contents].map(|start| builder.ptr_add(start, at));
            act(builder, Type::Scalar(self.element), addresses, active);
        });
    }
}
