//! Memory order and scope of atomic operations in LLVM.

use inkwell::AtomicOrdering;
use tilewright_kernel::{MemoryOrder, MemoryScope, Value};

/// Memory order, scope and space of an atomic operation.
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
