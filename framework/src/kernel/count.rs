//! What a kernel does, counted the same way by plans and by the emulator.

use serde::{Deserialize, Serialize};

/// Operations and wavefronts of one warp; where warps differ, the most over the warps of a block.
///
/// An operation counts once each time that the warp issues it with at least one lane under its
/// control flow, whether or not predicates leave lanes out. Wavefronts count only lanes whose
/// predicate is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Exchanges between lanes.
    pub exchanges: u64,
    /// Plain stores to shared memory.
    pub shared_stores: u64,
    /// Plain loads from shared memory.
    pub shared_loads: u64,
    /// Stores to shared memory by matrix instructions.
    pub matrix_stores: u64,
    /// Loads from shared memory by matrix instructions.
    pub matrix_loads: u64,
    /// Wavefronts stored to shared memory.
    pub wavefronts_stored: u64,
    /// Wavefronts loaded from shared memory.
    pub wavefronts_loaded: u64,
    /// Barriers of the block.
    pub barriers: u64,
    /// Barriers of one warp.
    pub warp_barriers: u64,
    /// Byte permutes.
    pub permutes: u64,
    /// Selects.
    pub selects: u64,
}

impl Counts {
    /// The larger of the two, count by count.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            exchanges: self.exchanges.max(other.exchanges),
            shared_stores: self.shared_stores.max(other.shared_stores),
            shared_loads: self.shared_loads.max(other.shared_loads),
            matrix_stores: self.matrix_stores.max(other.matrix_stores),
            matrix_loads: self.matrix_loads.max(other.matrix_loads),
            wavefronts_stored: self.wavefronts_stored.max(other.wavefronts_stored),
            wavefronts_loaded: self.wavefronts_loaded.max(other.wavefronts_loaded),
            barriers: self.barriers.max(other.barriers),
            warp_barriers: self.warp_barriers.max(other.warp_barriers),
            permutes: self.permutes.max(other.permutes),
            selects: self.selects.max(other.selects),
        }
    }
}
