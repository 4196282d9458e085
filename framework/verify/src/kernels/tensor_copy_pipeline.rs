//! Kernels around bulk tensor copies (TMA) of a tensor's tiles, in stages: copies fill some buffers of shared memory while
//! another is read; and the reverse, which stores tiles.

use tilewright_kernel::{
    Binary, Builder, Element, Kernel, Launch, MemorySpace, Op, Parameter, Queue, Scope, Type, Value,
};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::integer;
use tilewright_plan::movement::{MovementError, TensorCopy, TensorCopySource, first_warp};

use super::copy_pipeline::{OmittedSync, Ring, Stages, each_index, each_step};

/// A kernel of `launch` that copies tiles of a tensor by boxes: to buffers of shared memory in turn, of which it writes out
/// what each then holds, or, if the copy is a store, from buffers that it has filled to the tensor.
///
/// Parameters: the tensor's map; for each tile where it begins, an `i32` for each of the copy's axes; for each tile what
/// is in shared memory, one element after the other as they lie there.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width; [`MovementError::Memory`] for fewer tiles than
/// buffers, or none.
pub fn tensor_copy_kernel(
    copy: &TensorCopy,
    memory: &MemoryLayout,
    launch: Launch,
    stages: Stages,
) -> Result<Kernel, MovementError> {
    let element = integer(copy.map.element_bits)?;
    stages.check()?;
    let pointer = Type::Pointer(MemorySpace::Global);
    let parameters = vec![
        Parameter::tensor("tensor", copy.map.clone()),
        Parameter::plain("origins", pointer),
        Parameter::plain("held", pointer),
    ];
    let mut builder = Builder::with_parameters("copy", launch, parameters);
    let bytes = memory.allocated_bytes(element.bits());
    let pitch = bytes.next_multiple_of(copy.alignment) as u32;
    let start = builder.shared_buffer(pitch * stages.buffers, copy.alignment as u32);
    let ring = Ring { start, pitch, buffers: stages.buffers };
    let offsets = 1 << memory.linear.in_bits(Dim::OFFSET);
    let pipeline = Pipeline { copy, element, stages, offsets, ring };
    match copy.queue() {
        None => pipeline.load(&mut builder),
        Some(queue) => pipeline.store(&mut builder, queue),
    }
    Ok(builder.finish())
}

struct Pipeline<'a> {
    copy: &'a TensorCopy,
    element: Element,
    stages: Stages,
    /// Elements of a buffer.
    offsets: u32,
    ring: Ring,
}

impl Pipeline<'_> {
    /// All buffers but one are being filled while one is read. Each has an mbarrier of its own, whose phases are the tiles
    /// that the buffer has held.
    fn load(&self, builder: &mut Builder) {
        let (ahead, tiles) = (self.stages.ahead(), self.stages.tensors);
        let start = builder.shared_buffer(8 * self.stages.buffers, 8);
        let full = Ring { start, pitch: 8, buffers: self.stages.buffers };
        first_warp(builder, None, |builder| {
            for number in 0..self.stages.buffers {
                let bytes = builder.i32(8 * number);
                let pointer = builder.advance(start, bytes);
                builder.effect(Op::MbarrierInit { pointer, arrivals: 1 });
            }
            if !self.stages.omits(OmittedSync::Fence) {
                builder.proxy_fence();
            }
        });
        builder.barrier(Scope::Block);
        for tile in 0..ahead {
            let tile = builder.i32(tile);
            self.fill(builder, full, tile);
        }
        each_step(builder, tiles - ahead, 1, |builder, tile| {
            let next = builder.binary_const(Binary::Add, tile, ahead);
            self.fill(builder, full, next);
            self.read(builder, full, tile);
        });
        for tile in tiles - ahead..tiles {
            let tile = builder.i32(tile);
            self.read(builder, full, tile);
        }
    }

    fn fill(&self, builder: &mut Builder, full: Ring, tile: Value) {
        let (mbarrier, buffer) = (full.slot(builder, tile), self.ring.slot(builder, tile));
        first_warp(builder, None, |builder| self.copy(builder, buffer, tile, mbarrier));
    }

    fn read(&self, builder: &mut Builder, full: Ring, tile: Value) {
        let mbarrier = full.slot(builder, tile);
        let buffers = builder.i32(self.stages.buffers);
        let mut phase = builder.binary(Binary::DivU, tile, buffers);
        if self.stages.omits(OmittedSync::Wait) {
            // The phase before has completed, or is taken for it.
            phase = builder.binary_const(Binary::Add, phase, 1);
        }
        let phase = builder.binary_const(Binary::And, phase, 1);
        builder.mbarrier_wait(mbarrier, phase);
        self.each_element(builder, tile, |builder, ty, [place, held], active| {
            let value = builder.load(ty, place, 0, active);
            builder.store(held, 0, value, active);
        });
        if !self.stages.omits(OmittedSync::Barrier) {
            builder.barrier(Scope::Block);
        }
    }

    /// A buffer is filled again when the copies of all tiles that it held have been waited for.
    fn store(&self, builder: &mut Builder, queue: Queue) {
        each_step(builder, self.stages.tensors, 1, |builder, tile| {
            let outstanding = self.stages.ahead() + u32::from(self.stages.omits(OmittedSync::Wait));
            first_warp(builder, None, |builder| drop(builder.wait(queue, outstanding, &[])));
            builder.barrier(Scope::Block);
            self.each_element(builder, tile, |builder, ty, [place, held], active| {
                let value = builder.load(ty, held, 0, active);
                builder.store(place, 0, value, active);
            });
            if !self.stages.omits(OmittedSync::Fence) {
                builder.proxy_fence();
            }
            if !self.stages.omits(OmittedSync::Barrier) {
                builder.barrier(Scope::Block);
            }
            let buffer = self.ring.slot(builder, tile);
            first_warp(builder, None, |builder| self.copy(builder, buffer, tile, buffer));
        });
        first_warp(builder, None, |builder| drop(builder.wait(queue, 0, &[])));
    }

    fn copy(&self, builder: &mut Builder, buffer: Value, tile: Value, mbarrier: Value) {
        let axes = self.copy.axes.len() as u32;
        let bytes = builder.binary_const(Binary::Mul, tile, 4 * axes);
        let origins = builder.parameter(1);
        let origins = builder.advance(origins, bytes);
        let coordinate = |axis: u32| builder.load(Type::Scalar(Element::I32), origins, 4 * axis.cast_signed(), None);
        let origin: Vec<Value> = (0..axes).map(coordinate).collect();
        let source = TensorCopySource { map: builder.parameter(0), origin: &origin };
        self.copy.emit(builder, buffer, source, mbarrier);
    }

    /// Each thread's elements of a buffer in turn: where they are in shared and in global memory.
    fn each_element(
        &self,
        builder: &mut Builder,
        tile: Value,
        act: impl FnOnce(&mut Builder, Type, [Value; 2], Option<Value>),
    ) {
        let bytes = self.element.bits() / 8;
        let buffer = self.ring.slot(builder, tile);
        let before = builder.binary_const(Binary::Mul, tile, self.offsets * bytes);
        let held = builder.parameter(2);
        let held = builder.advance(held, before);
        each_index(builder, self.offsets, |builder, index, active| {
            let at = builder.binary_const(Binary::Mul, index, bytes);
            let places = [buffer, held].map(|start| builder.advance(start, at));
            act(builder, Type::Scalar(self.element), places, active);
        });
    }
}
