//! When what an instruction does is done.

use serde::{Deserialize, Serialize};

/// What completes in the order in which a warp commits it. Each warp has its own of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// Copies between global and shared memory that lanes make, each of its own bytes.
    Copies,
    /// Copies of whole boxes of a tensor, which one issue of a warp makes.
    Bulk,
    /// Matrix products.
    Products,
    /// Moves from tensor memory to registers.
    TensorLoads,
    /// Moves from registers to tensor memory.
    TensorStores,
}

impl Queue {
    /// All there are, in the order of their declaration.
    pub const ALL: &'static [Self] = &[Self::Copies, Self::Bulk, Self::Products, Self::TensorLoads, Self::TensorStores];

    /// The name used in text and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Copies => "copies",
            Self::Bulk => "bulk",
            Self::Products => "products",
            Self::TensorLoads => "tensor_loads",
            Self::TensorStores => "tensor_stores",
        }
    }

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
