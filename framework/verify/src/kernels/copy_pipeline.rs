//! Pipelines of copies between global and shared memory: buffers that tensors take in turn, and flaws that are built in on purpose.

use tilewright_kernel::{Binary, Builder, Compare, Element, Launch, SpecialRegister, Type, Value};
use tilewright_plan::movement::MovementError;

const WORD: Type = Type::Scalar(Element::I32);

/// A pipeline of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stages {
    /// Buffers in shared memory: all but one are filled while one is read.
    pub buffers: u32,
    /// Tensors to be copied, one after the other; not fewer than buffers.
    pub tensors: u32,
    /// The synchronization that is left out on purpose.
    pub omitted: Option<OmittedSync>,
}

/// Synchronization without which a pipeline is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedSync {
    /// Each wait is for one group less, or for the phase before.
    Wait,
    /// No barrier stands between the reads of a buffer and its next copy.
    Barrier,
    /// No fence stands between plain stores and the proxy of bulk tensor copies; others need none.
    Fence,
}

impl Stages {
    pub(super) fn check(self) -> Result<(), MovementError> {
        let Self { buffers, tensors, .. } = self;
        if buffers == 0 || tensors < buffers {
            return Err(MovementError::Memory { reason: format!("{buffers} buffers for {tensors} tensors") });
        }
        Ok(())
    }

    pub(super) fn omits(self, sync: OmittedSync) -> bool {
        self.omitted == Some(sync)
    }

    /// Tensors whose copies are in flight while one is read.
    pub(super) fn ahead(self) -> u32 {
        self.buffers - 1
    }
}

/// Buffers of shared memory that lie side by side.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    pub start: Value,
    /// Bytes from one buffer to the next.
    pub pitch: u32,
    pub buffers: u32,
}

impl Ring {
    /// The buffer that a tensor takes.
    pub(super) fn slot(self, builder: &mut Builder, tensor: Value) -> Value {
        let buffers = builder.i32(self.buffers);
        let slot = builder.binary(Binary::RemU, tensor, buffers);
        let bytes = builder.binary_const(Binary::Mul, slot, self.pitch);
        builder.advance(self.start, bytes)
    }
}

/// Emits a loop that begins with each index below `count` that is a multiple of `step`.
pub(super) fn each_step(builder: &mut Builder, count: u32, step: u32, act: impl FnOnce(&mut Builder, Value)) {
    let [from, to, step] = [0, count, step].map(|bound| builder.i32(bound));
    let index = builder.begin_region(&[WORD])[0];
    act(builder, index);
    let body = builder.end_region(&[]);
    builder.for_loop(from, to, step, &[], body);
}

/// The index of the running thread in its block.
pub(super) fn thread_index(builder: &mut Builder) -> Value {
    let lanes = builder.launch().lanes;
    let (lane, warp) = (builder.special(SpecialRegister::Lane), builder.special(SpecialRegister::Warp));
    let before = builder.binary_const(Binary::Mul, warp, lanes);
    builder.binary(Binary::Add, before, lane)
}

/// Emits a loop over the indices below `count`, which the threads of the block take in turn: `act` gets the index, and, if
/// some threads may have none, whether there is one.
pub(super) fn each_index(builder: &mut Builder, count: u32, act: impl FnOnce(&mut Builder, Value, Option<Value>)) {
    let Launch { lanes, warps, .. } = builder.launch();
    let thread = thread_index(builder);
    each_step(builder, count, lanes * warps, |builder, first| {
        let index = builder.binary(Binary::Add, first, thread);
        let active = (!count.is_multiple_of(lanes * warps)).then(|| {
            let count = builder.i32(count);
            builder.compare(Compare::LtU, index, count)
        });
        act(builder, index, active);
    });
}
