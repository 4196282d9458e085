//! Memory order and scope of atomic operations in SPIR-V.

use rspirv::spirv::{self, MemorySemantics};
use tilewright_kernel::{MemoryOrder, MemoryScope};

/// Memory order and scope of an atomic operation.
#[derive(Clone, Copy)]
pub(super) struct Ordered {
    pub(super) order: MemoryOrder,
    pub(super) scope: MemoryScope,
}

impl Ordered {
    pub(super) fn scope(self) -> u32 {
        let scope = match self.scope {
            MemoryScope::Block => spirv::Scope::Workgroup,
            MemoryScope::Device => spirv::Scope::Device,
            MemoryScope::System => spirv::Scope::CrossDevice,
        };
        scope as u32
    }

    /// Returns SPIR-V's memory semantics, which cover global and shared memory; none if the operation is relaxed.
    pub(super) fn semantics(self) -> u32 {
        let order = match self.order {
            MemoryOrder::Relaxed => return 0,
            MemoryOrder::Acquire => MemorySemantics::ACQUIRE,
            MemoryOrder::Release => MemorySemantics::RELEASE,
            MemoryOrder::AcquireRelease => MemorySemantics::ACQUIRE_RELEASE,
        };
        (order | MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::CROSS_WORKGROUP_MEMORY).bits()
    }

    /// Returns the order and scope for a compare-exchange that fails: it writes nothing, and so releases nothing.
    pub(super) fn failed(self) -> Self {
        let order = match self.order {
            MemoryOrder::Acquire | MemoryOrder::AcquireRelease => MemoryOrder::Acquire,
            _ => MemoryOrder::Relaxed,
        };
        Self { order, ..self }
    }
}
