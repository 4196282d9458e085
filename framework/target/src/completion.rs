//! Completion of instructions: at issue, by a queue, or by an mbarrier.

use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// A queue of asynchronous operations that complete in the order that a warp commits them. Each warp has its own.
    pub enum Queue {
        /// Per-lane asynchronous copies between global and shared memory (`cp.async`).
        Copies = "copies",
        /// Bulk copies, each issued once by a warp (`cp.async.bulk`, TMA).
        Bulk = "bulk",
        /// MMA instructions of several warps (`wgmma`).
        Mma = "products",
        /// Loads from tensor memory to registers (`tcgen05.ld`).
        TensorLoads = "tensor_loads",
        /// Stores from registers to tensor memory (`tcgen05.st`).
        TensorStores = "tensor_stores",
        /// The reads of shared memory by the bulk copies of [`Queue::Bulk`], which end before the copies do
        /// (`cp.async.bulk.wait_group.read`). A wait counts the groups of that queue; nothing is committed here.
        BulkReads = "bulk_reads",
    }
}

impl Queue {
    /// Whether operations of this queue read shared memory through the asynchronous proxy, if the target has one: then
    /// plain stores need a proxy fence before such a read.
    #[must_use]
    pub fn uses_async_proxy(self) -> bool {
        match self {
            Self::Copies | Self::TensorLoads | Self::TensorStores => false,
            Self::Bulk | Self::BulkReads | Self::Mma => true,
        }
    }

    /// Returns the queue whose commit groups a wait on this queue counts.
    #[must_use]
    pub fn queue_of_groups(self) -> Self {
        if self == Self::BulkReads { Self::Bulk } else { self }
    }
}

/// When and how an instruction completes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// The instruction is complete at issue; nothing waits for it.
    #[default]
    #[serde(rename = "at_once")]
    Immediate,
    /// The instruction completes with its commit group on this queue. Its results are pending until a wait for that
    /// group.
    Queue(Queue),
    /// The instruction completes on the mbarrier of its operand [`super::InstructionOperand::Mbarrier`], which counts
    /// the bytes that the instruction writes.
    Mbarrier,
}

impl Completion {
    /// Whether the instruction is complete at issue, so that nothing waits for it.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        *self == Self::Immediate
    }
}
