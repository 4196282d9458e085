//! Kernels around copies of a tensor's tiles by boxes: a pipeline of buffers that fills each while others are read, and its
//! counterpart that stores tiles back.

use tilewright_kernel::{
    Binary, Builder, Compare, Element, Kernel, Launch, Op, Parameter, Queue, Scope, Space, SpecialRegister, Type, Value,
};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_plan::movement::{BoxCopy, BoxSource, MovementError};

use super::copy::{Omitted, Stages};
use super::registers::integer;

const WORD: Type = Type::Scalar(Element::I32);

/// A kernel of `launch` that copies tiles of a tensor by boxes: to buffers of shared memory in turn, of which it writes out
/// what each then holds, or, where the copy goes there, from buffers that it has filled to the tensor.
///
/// Parameters: the tensor's map; for each tile where it begins, an `i32` for each of the copy's axes; for each tile what
/// is in shared memory, one element after the other as they lie there.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width; [`MovementError::Memory`] for fewer tiles than
/// buffers, or none.
pub fn staged_box_kernel(
    name: &str,
    copy: &BoxCopy,
    memory: &MemoryLayout,
    launch: Launch,
    stages: Stages,
) -> Result<Kernel, MovementError> {
    let element = integer(copy.map.element_bits)?;
    if stages.buffers == 0 || stages.tensors < stages.buffers {
        let Stages { buffers, tensors, .. } = stages;
        return Err(MovementError::Memory { reason: format!("{buffers} buffers for {tensors} tiles") });
    }
    let pointer = Type::Pointer(Space::Global);
    let parameters = vec![
        Parameter::tensor("tensor", copy.map.clone()),
        Parameter::plain("origins", pointer),
        Parameter::plain("held", pointer),
    ];
    let mut builder = Builder::with_parameters(name, launch, parameters);
    let bytes = memory.allocated_bytes(element.bits());
    let pitch = bytes.next_multiple_of(copy.alignment) as u32;
    let buffers = builder.shared_buffer(pitch * stages.buffers, copy.alignment as u32);
    let offsets = 1 << memory.linear.in_bits(Dim::OFFSET);
    let warp = builder.special(SpecialRegister::Warp);
    let zero = builder.i32(0);
    let first = builder.compare(Compare::Eq, warp, zero);
    let tiles = Tiles { copy, element, stages, pitch, offsets, buffers, first };
    match copy.queue() {
        None => tiles.bring(&mut builder),
        Some(queue) => tiles.put_back(&mut builder, queue),
    }
    Ok(builder.finish())
}

struct Tiles<'a> {
    copy: &'a BoxCopy,
    element: Element,
    stages: Stages,
    /// Bytes from one buffer to the next.
    pitch: u32,
    /// Elements of a buffer.
    offsets: u32,
    buffers: Value,
    /// Whether this is the warp that copies.
    first: Value,
}

impl Tiles<'_> {
    fn omits(&self, what: Omitted) -> bool {
        self.stages.omitted == Some(what)
    }

    /// All buffers but one are being filled while one is read. Each has an mbarrier of its own, whose phases are the tiles
    /// that the buffer has held.
    fn bring(&self, builder: &mut Builder) {
        let Stages { buffers, tensors, .. } = self.stages;
        let ahead = buffers - 1;
        let full = builder.shared_buffer(8 * buffers, 8);
        self.by_first(builder, |builder| {
            for number in 0..buffers {
                let bytes = builder.i32(8 * number);
                let pointer = builder.advance(full, bytes);
                builder.effect(Op::MbarrierInit { pointer, arrivals: 1 });
            }
            if !self.omits(Omitted::Fence) {
                builder.proxy_fence();
            }
        });
        builder.barrier(Scope::Block);
        for tile in 0..ahead {
            let tile = builder.i32(tile);
            self.fill(builder, full, tile);
        }
        self.each_tile(builder, tensors - ahead, |builder, tile| {
            let next = builder.binary_const(Binary::Add, tile, ahead);
            self.fill(builder, full, next);
            self.read(builder, full, tile);
        });
        for tile in tensors - ahead..tensors {
            let tile = builder.i32(tile);
            self.read(builder, full, tile);
        }
    }

    fn fill(&self, builder: &mut Builder, full: Value, tile: Value) {
        let (mbarrier, buffer) =
            (self.turn(builder, full, 8, tile), self.turn(builder, self.buffers, self.pitch, tile));
        self.by_first(builder, |builder| self.copy(builder, buffer, tile, mbarrier));
    }

    fn read(&self, builder: &mut Builder, full: Value, tile: Value) {
        let mbarrier = self.turn(builder, full, 8, tile);
        let number = builder.i32(self.stages.buffers);
        let phase = builder.binary(Binary::DivU, tile, number);
        // The phase before has completed, or is taken for it.
        let phase = if self.omits(Omitted::Wait) { builder.binary_const(Binary::Add, phase, 1) } else { phase };
        let phase = builder.binary_const(Binary::And, phase, 1);
        builder.mbarrier_wait(mbarrier, phase);
        self.each_element(builder, tile, |builder, ty, [place, held], active| {
            let value = builder.load(ty, place, 0, active);
            builder.store(held, 0, value, active);
        });
        if !self.omits(Omitted::Barrier) {
            builder.barrier(Scope::Block);
        }
    }

    /// A buffer is filled again when the copies of all tiles that it held have been waited for.
    fn put_back(&self, builder: &mut Builder, queue: Queue) {
        let Stages { buffers, tensors, .. } = self.stages;
        self.each_tile(builder, tensors, |builder, tile| {
            let outstanding = buffers - 1 + u32::from(self.omits(Omitted::Wait));
            self.by_first(builder, |builder| drop(builder.wait(queue, outstanding, &[])));
            builder.barrier(Scope::Block);
            self.each_element(builder, tile, |builder, ty, [place, held], active| {
                let value = builder.load(ty, held, 0, active);
                builder.store(place, 0, value, active);
            });
            if !self.omits(Omitted::Fence) {
                builder.proxy_fence();
            }
            if !self.omits(Omitted::Barrier) {
                builder.barrier(Scope::Block);
            }
            let buffer = self.turn(builder, self.buffers, self.pitch, tile);
            self.by_first(builder, |builder| self.copy(builder, buffer, tile, buffer));
        });
        self.by_first(builder, |builder| drop(builder.wait(queue, 0, &[])));
    }

    fn copy(&self, builder: &mut Builder, buffer: Value, tile: Value, mbarrier: Value) {
        let axes = self.copy.axes.len() as u32;
        let bytes = builder.binary_const(Binary::Mul, tile, 4 * axes);
        let origins = builder.parameter(1);
        let origins = builder.advance(origins, bytes);
        let origin: Vec<Value> =
            (0..axes).map(|axis| builder.load(WORD, origins, 4 * axis.cast_signed(), None)).collect();
        let source = BoxSource { map: builder.parameter(0), origin: &origin };
        self.copy.emit(builder, buffer, source, mbarrier);
    }

    fn by_first(&self, builder: &mut Builder, act: impl FnOnce(&mut Builder)) {
        builder.begin_region(&[]);
        act(builder);
        let then = builder.end_region(&[]);
        builder.begin_region(&[]);
        let otherwise = builder.end_region(&[]);
        builder.if_else(self.first, then, otherwise, &[]);
    }

    fn each_tile(&self, builder: &mut Builder, tiles: u32, act: impl FnOnce(&mut Builder, Value)) {
        let [from, to, step] = [0, tiles, 1].map(|bound| builder.i32(bound));
        let tile = builder.begin_region(&[WORD])[0];
        act(builder, tile);
        let body = builder.end_region(&[]);
        builder.for_loop(from, to, step, &[], body);
    }

    /// What belongs to the tile's buffer of things that are so many bytes apart.
    fn turn(&self, builder: &mut Builder, start: Value, pitch: u32, tile: Value) -> Value {
        let number = builder.i32(self.stages.buffers);
        let turn = builder.binary(Binary::RemU, tile, number);
        let bytes = builder.binary_const(Binary::Mul, turn, pitch);
        builder.advance(start, bytes)
    }

    /// Each thread's elements of a buffer in turn: where they are in shared and in global memory.
    fn each_element(
        &self,
        builder: &mut Builder,
        tile: Value,
        act: impl FnOnce(&mut Builder, Type, [Value; 2], Option<Value>),
    ) {
        let (bytes, offsets) = (self.element.bits() / 8, self.offsets);
        let Launch { lanes, warps, .. } = builder.launch();
        let buffer = self.turn(builder, self.buffers, self.pitch, tile);
        let held = builder.parameter(2);
        let before = builder.binary_const(Binary::Mul, tile, offsets * bytes);
        let held = builder.advance(held, before);
        let (lane, warp) = (builder.special(SpecialRegister::Lane), builder.special(SpecialRegister::Warp));
        let thread = builder.binary_const(Binary::Mul, warp, lanes);
        let thread = builder.binary(Binary::Add, thread, lane);
        let [from, to, step] = [0, offsets, lanes * warps].map(|bound| builder.i32(bound));
        let turn = builder.begin_region(&[WORD])[0];
        let index = builder.binary(Binary::Add, turn, thread);
        let active = (!offsets.is_multiple_of(lanes * warps)).then(|| builder.compare(Compare::LtU, index, to));
        let at = builder.binary_const(Binary::Mul, index, bytes);
        let places = [buffer, held].map(|start| builder.advance(start, at));
        act(builder, Type::Scalar(self.element), places, active);
        let body = builder.end_region(&[]);
        builder.for_loop(from, to, step, &[], body);
    }
}
