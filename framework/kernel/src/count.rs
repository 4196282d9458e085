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
    /// Those of the exchanges in which the indices of lanes differ by a constant.
    pub exchanges_xor: u64,
    /// Plain stores to shared memory.
    pub shared_stores: u64,
    /// Plain loads from shared memory.
    pub shared_loads: u64,
    /// Stores to shared memory by matrix instructions.
    pub matrix_stores: u64,
    /// Loads from shared memory by matrix instructions.
    pub matrix_loads: u64,
    /// Copies from global to shared memory that go past the registers.
    #[serde(default)]
    pub asynchronous_copies: u64,
    /// Copies of a box of a tensor, or a span of bytes, that a warp issues once.
    #[serde(default)]
    pub bulk_copies: u64,
    /// Bytes of those.
    #[serde(default)]
    pub bulk_bytes: u64,
    /// Prefetches of a block of a matrix, which a warp issues once.
    #[serde(default)]
    pub prefetches: u64,
    /// Arrivals at mbarriers.
    #[serde(default)]
    pub mbarrier_arrivals: u64,
    /// Wavefronts stored to shared memory.
    pub wavefronts_stored: u64,
    /// Wavefronts loaded from shared memory.
    pub wavefronts_loaded: u64,
    /// Barriers of the block.
    pub barriers: u64,
    /// Barriers of the cluster.
    pub cluster_barriers: u64,
    /// Barriers of one warp, on targets that do not order a warp's accesses by themselves.
    pub warp_barriers: u64,
    /// Byte permutes.
    pub permutes: u64,
    /// Selects.
    pub selects: u64,
}

impl Counts {
    /// What one kernel does after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.merged(other, |a, b| a + b)
    }

    /// The larger of the two, count by count.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        self.merged(other, u64::max)
    }

    fn merged(self, other: Self, merge: fn(u64, u64) -> u64) -> Self {
        Self {
            exchanges: merge(self.exchanges, other.exchanges),
            exchanges_xor: merge(self.exchanges_xor, other.exchanges_xor),
            shared_stores: merge(self.shared_stores, other.shared_stores),
            shared_loads: merge(self.shared_loads, other.shared_loads),
            matrix_stores: merge(self.matrix_stores, other.matrix_stores),
            matrix_loads: merge(self.matrix_loads, other.matrix_loads),
            asynchronous_copies: merge(self.asynchronous_copies, other.asynchronous_copies),
            bulk_copies: merge(self.bulk_copies, other.bulk_copies),
            bulk_bytes: merge(self.bulk_bytes, other.bulk_bytes),
            prefetches: merge(self.prefetches, other.prefetches),
            mbarrier_arrivals: merge(self.mbarrier_arrivals, other.mbarrier_arrivals),
            wavefronts_stored: merge(self.wavefronts_stored, other.wavefronts_stored),
            wavefronts_loaded: merge(self.wavefronts_loaded, other.wavefronts_loaded),
            barriers: merge(self.barriers, other.barriers),
            cluster_barriers: merge(self.cluster_barriers, other.cluster_barriers),
            warp_barriers: merge(self.warp_barriers, other.warp_barriers),
            permutes: merge(self.permutes, other.permutes),
            selects: merge(self.selects, other.selects),
        }
    }
}
