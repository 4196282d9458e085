//! Memory order and scope of atomic operations in LLVM.

use inkwell::AtomicOrdering;
use tilewright_kernel::{MemoryOrder, MemoryScope, Value};

/// Predicate, memory order and memory scope of an atomic operation.
#[derive(Clone, Copy)]
pub(crate) struct Ordered {
    pub(crate) predicate: Option<Value>,
    pub(crate) order: MemoryOrder,
    pub(crate) scope: MemoryScope,
}

impl Ordered {
    /// Whether the operation has release order: the lane's earlier accesses may not move behind it.
    pub(crate) fn releases(self) -> bool {
        matches!(self.order, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }

    /// Returns the order without its release part, for an atomic operation that follows a release fence.
    pub(crate) fn without_release(self) -> Self {
        let order = match self.order {
            MemoryOrder::Relaxed | MemoryOrder::Release => MemoryOrder::Relaxed,
            MemoryOrder::Acquire | MemoryOrder::AcquireRelease => MemoryOrder::Acquire,
        };
        Self { order, ..self }
    }

    pub(crate) fn ordering(self) -> AtomicOrdering {
        match self.order {
            MemoryOrder::Relaxed => AtomicOrdering::Monotonic,
            MemoryOrder::Acquire => AtomicOrdering::Acquire,
            MemoryOrder::Release => AtomicOrdering::Release,
            MemoryOrder::AcquireRelease => AtomicOrdering::AcquireRelease,
        }
    }
}
