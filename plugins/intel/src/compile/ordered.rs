//! Memory order and scope of atomic operations in SPIR-V.

use rspirv::spirv::{self, MemorySemantics};
use tilewright_kernel::{MemoryOrder, MemoryScope};

/// Memory order and scope of an atomic operation or fence.
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

    /// Returns the memory semantics operand of SPIR-V for global and shared memory; 0 if the order is relaxed.
    pub(super) fn semantics(self) -> u32 {
        let order = match self.order {
            MemoryOrder::Relaxed => return 0,
            MemoryOrder::Acquire => MemorySemantics::ACQUIRE,
            MemoryOrder::Release => MemorySemantics::RELEASE,
            MemoryOrder::AcquireRelease => MemorySemantics::ACQUIRE_RELEASE,
        };
        (order | MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::CROSS_WORKGROUP_MEMORY).bits()
    }

    /// Returns the order and scope that apply if a compare-exchange fails: since it writes nothing, it has no release
    /// order.
    pub(super) fn failed(self) -> Self {
        let order = match self.order {
            MemoryOrder::Acquire | MemoryOrder::AcquireRelease => MemoryOrder::Acquire,
            _ => MemoryOrder::Relaxed,
        };
        Self { order, ..self }
    }
}
