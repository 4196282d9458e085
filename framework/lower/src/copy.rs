//! Kernels around copies from global to shared memory: in stages, of which some are under way while another is
//! read.

use tilewright_kernel::{Binary, Builder, Element, Kernel, Launch, Scope, Space, Type, Value};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_plan::movement::{MovementError, SharedCopy};

use super::access::each_offset;
use super::registers::{integer, row_major_places_from};

/// A pipeline of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stages {
    /// Buffers in shared memory: all but one are filled while one is read.
    pub buffers: u32,
    /// Tensors to be copied, one after the other; not fewer than buffers.
    pub tensors: u32,
    /// What is left out on purpose.
    pub omitted: Option<Omitted>,
}

/// What makes a pipeline wrong where it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omitted {
    /// Each wait is for one group less, or for the phase before.
    Wait,
    /// No barrier stands between the reads of a buffer and its next copy.
    Barrier,
    /// No fence between what is stored plainly and the proxy of copies by boxes; others need none.
    Fence,
}

/// A kernel that copies row-major tensors, which follow each other in global memory, to buffers of shared memory in
/// turn, and writes out what each then holds.
///
/// Parameters are pointers to global memory: the tensors; for each linear offset of the memory the physical offset
/// in bytes, as `i32`; what is found, one element for each linear offset of each tensor.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width; [`MovementError::Memory`] for fewer tensors than
/// buffers, or none.
pub fn staged_copy_kernel(
    name: &str,
    copy: &SharedCopy,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: Stages,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    if stages.buffers == 0 || stages.tensors < stages.buffers {
        let Stages { buffers, tensors, .. } = stages;
        return Err(MovementError::Memory { reason: format!("{buffers} buffers for {tensors} tensors") });
    }
    let bits = |dim| copy.layout.in_bits(dim);
    let launch = Launch::new(1 << bits(Dim::LANE), 1 << bits(Dim::WARP));
    let pointer = Type::Pointer(Space::Global);
    let mut builder = Builder::new(name, launch, &[("tensors", pointer), ("places", pointer), ("found", pointer)]);
    let bytes = memory.allocated_bytes(element_bits);
    let grain = copy.alignment().max(16);
    let pitch = bytes.next_multiple_of(grain) as u32;
    let buffers = builder.shared_buffer(pitch * stages.buffers, grain as u32);
    Staged { copy, memory, element, stages, pitch, buffers }.write(&mut builder);
    Ok(builder.finish())
}

struct Staged<'a> {
    copy: &'a SharedCopy,
    memory: &'a MemoryLayout,
    element: Element,
    stages: Stages,
    /// Bytes from one buffer to the next.
    pitch: u32,
    buffers: Value,
}

impl Staged<'_> {
    /// All buffers but one are filled first; then each turn fills one and reads one; then the rest is read.
    fn write(&self, builder: &mut Builder) {
        let Stages { buffers, tensors, .. } = self.stages;
        let ahead = buffers - 1;
        for tensor in 0..ahead {
            let tensor = builder.i32(tensor);
            self.copy(builder, tensor);
        }
        let [from, to, step] = [0, tensors - ahead, 1].map(|bound| builder.i32(bound));
        let turn = builder.begin_region(&[Type::Scalar(Element::I32)])[0];
        let next = builder.binary_const(Binary::Add, turn, ahead);
        self.copy(builder, next);
        self.read(builder, turn, ahead);
        let body = builder.end_region(&[]);
        builder.for_loop(from, to, step, &[], body);
        for left in (0..ahead).rev() {
            let tensor = builder.i32(tensors - 1 - left);
            self.read(builder, tensor, left);
        }
        self.copy.emit_wait(builder, 0);
    }

    /// The tensor's buffer.
    fn buffer(&self, builder: &mut Builder, tensor: Value) -> Value {
        let number = builder.i32(self.stages.buffers);
        let turn = builder.binary(Binary::RemU, tensor, number);
        let bytes = builder.binary_const(Binary::Mul, turn, self.pitch);
        builder.advance(self.buffers, bytes)
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
        let buffer = self.buffer(builder, tensor);
        let mut places = row_major_places_from(builder, base, layout, self.element);
        self.copy.emit(builder, buffer, &mut places);
        self.copy.emit_commit(builder);
    }

    /// Waits for the tensor's copy, after which so many others were committed, and writes out what it brought.
    fn read(&self, builder: &mut Builder, tensor: Value, outstanding: u32) {
        let omitted = |what| u32::from(self.stages.omitted == Some(what));
        self.copy.emit_wait(builder, outstanding + omitted(Omitted::Wait));
        builder.barrier(Scope::Block);
        let buffer = self.buffer(builder, tensor);
        let found = self.part(builder, 2, tensor, 1 << self.memory.linear.in_bits(Dim::OFFSET));
        let (scalar, bytes) = (Type::Scalar(self.element), self.element.bits() / 8);
        let last = (1u32 << self.memory.linear.in_bits(Dim::OFFSET)) - 1;
        each_offset(builder, &self.copy.layout, self.memory, |builder, index, active| {
            // From the last to the first, so that threads read what others have brought.
            let index = builder.binary_const(Binary::Xor, index, last);
            let entry = builder.binary_const(Binary::Mul, index, 4);
            let places = builder.parameter(1);
            let entry = builder.advance(places, entry);
            let offset = builder.load(Type::Scalar(Element::I32), entry, 0, active);
            let place = builder.advance(buffer, offset);
            let value = builder.load(scalar, place, 0, active);
            let out = builder.binary_const(Binary::Mul, index, bytes);
            let out = builder.advance(found, out);
            builder.store(out, 0, value, active);
        });
        if omitted(Omitted::Barrier) == 0 {
            builder.barrier(Scope::Block);
        }
    }
}
