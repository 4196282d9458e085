//! Pipelines of copies between global and shared memory: rings of buffers, and synchronization omitted on purpose.

use tilewright_kernel::{Binary, Builder, Compare, Element, SpecialRegister, StaticLaunchConfig, Type, Value};
use tilewright_plan::movement::MovementError;

const WORD: Type = Type::Scalar(Element::I32);

/// Configuration of a copy pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyPipelineConfig {
    /// Number of buffers in shared memory: one is read while the others are filled.
    pub buffers: u32,
    /// Number of copied tensors, at least the number of buffers.
    pub tensors: u32,
    /// The synchronization that is omitted on purpose; `None` if nothing is.
    pub omitted: Option<OmittedSync>,
}

/// A kind of synchronization that a copy pipeline needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedSync {
    /// The wait: each wait leaves one more commit group outstanding, or waits for the previous mbarrier phase.
    Wait,
    /// The barrier between the reads of a buffer and its next copy.
    Barrier,
    /// The fence between plain stores and the proxy of bulk tensor copies; only these need one.
    Fence,
}

impl CopyPipelineConfig {
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

    /// Number of copies that are in flight while one tensor is read: one less than the buffers.
    pub(super) fn prefetch_distance(self) -> u32 {
        self.buffers - 1
    }
}

/// A ring of adjacent buffers in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    pub start: Value,
    /// Number of bytes from one buffer to the next.
    pub pitch: u32,
    pub buffers: u32,
}

impl Ring {
    /// Emits the address of the buffer for the tensor with the index `tensor`: the buffer with this index modulo the
    /// number of buffers.
    pub(super) fn buffer_of(self, builder: &mut Builder, tensor: Value) -> Value {
        let buffers = builder.i32(self.buffers);
        let segment = builder.binary(Binary::RemU, tensor, buffers);
        let bytes = builder.binary_const(Binary::Mul, segment, self.pitch);
        builder.ptr_add(self.start, bytes)
    }
}

/// Emits a loop over the multiples of `step` below `count`; `act` emits the body and gets the current multiple as an
/// `i32`.
pub(super) fn each_step(builder: &mut Builder, count: u32, step: u32, act: impl FnOnce(&mut Builder, Value)) {
    let [from, to, step] = [0, count, step].map(|bound| builder.i32(bound));
    let index = builder.begin_region(&[WORD])[0];
    act(builder, index);
    let body = builder.end_region(&[]);
    builder.for_loop(from, to, step, &[], body);
}

/// Emits the index of the thread in its block.
pub(super) fn thread_index(builder: &mut Builder) -> Value {
    let lanes = builder.launch().lanes;
    let (lane, warp) = (builder.special(SpecialRegister::Lane), builder.special(SpecialRegister::Warp));
    let before = builder.binary_const(Binary::Mul, warp, lanes);
    builder.binary(Binary::Add, before, lane)
}

/// Emits a loop that distributes the indices below `count` over the threads of the block. `act` emits the body; it gets
/// the index, and a predicate if some threads may have no index.
pub(super) fn each_index(builder: &mut Builder, count: u32, act: impl FnOnce(&mut Builder, Value, Option<Value>)) {
    let StaticLaunchConfig { lanes, warps, .. } = builder.launch();
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
