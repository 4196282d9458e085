//! When what an instruction does is done.

use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// What completes in the order in which a warp commits it. Each warp has its own of each.
    pub enum Queue {
        /// Copies between global and shared memory that lanes make, each of its own bytes.
        Copies = "copies",
        /// Copies of whole boxes of a tensor, which one issue of a warp makes.
        Bulk = "bulk",
        /// Matrix products.
        Products = "products",
        /// Moves from tensor memory to registers.
        TensorLoads = "tensor_loads",
        /// Moves from registers to tensor memory.
        TensorStores = "tensor_stores",
    }
}

impl Queue {
    /// Whether what is on it reads shared memory through the asynchronous proxy, where the target has one:
    /// whoever has written there by plain stores must have fenced.
    #[must_use]
    pub fn reads_by_proxy(self) -> bool {
        match self {
            Self::Copies | Self::TensorLoads | Self::TensorStores => false,
            Self::Bulk | Self::Products => true,
        }
    }
}

/// How an instruction completes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// When it has been issued.
    #[default]
    AtOnce,
    /// With the group of the queue that it is committed in. Results are pending until a wait for that group.
    Queue(Queue),
    /// By the bytes that it writes, on the mbarrier that its operand [`super::Operand::Mbarrier`] points to.
    Mbarrier,
}

impl Completion {
    /// Whether nothing has to be waited for.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        *self == Self::AtOnce
    }
}
