//! The memory order of atomic operations.

use inkwell::AtomicOrdering;
use tilewright_kernel::{MemoryOrder, MemoryScope, Value};

/// How an atomic operation orders, among whom, and who takes part.
#[derive(Clone, Copy)]
pub(crate) struct Ordered {
    pub(crate) predicate: Option<Value>,
    pub(crate) order: MemoryOrder,
    pub(crate) scope: MemoryScope,
}

impl Ordered {
    pub(crate) fn ordering(self) -> AtomicOrdering {
        match self.order {
            MemoryOrder::Relaxed => AtomicOrdering::Monotonic,
            MemoryOrder::Acquire => AtomicOrdering::Acquire,
            MemoryOrder::Release => AtomicOrdering::Release,
            MemoryOrder::AcquireRelease => AtomicOrdering::AcquireRelease,
        }
    }
}
