//! Operation counts of a kernel, which plans predict and the emulator measures by the same rules.

use serde::{Deserialize, Serialize};

/// Operation and shared-memory wavefront counts of one warp; if warps differ, the maximum over the warps of a block.
///
/// An operation counts once each time that the warp issues it with at least one active lane, also if its predicate
/// excludes lanes. Wavefronts count only lanes whose predicate is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Number of shuffles between lanes, including swaps and shuffles by a constant XOR.
    #[serde(rename = "exchanges")]
    pub shuffles: u64,
    /// Number of shuffles between lanes whose indices differ by a constant XOR; these are counted in `shuffles` too.
    #[serde(rename = "exchanges_xor")]
    pub shuffles_xor: u64,
    /// Number of swaps between lanes whose indices differ in one bit; these are counted in `shuffles` too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub swaps: u64,
    /// Number of plain stores to shared memory.
    pub shared_stores: u64,
    /// Number of plain loads from shared memory.
    pub shared_loads: u64,
    /// Number of stores to shared memory by matrix-store instructions (PTX `stmatrix`).
    pub matrix_stores: u64,
    /// Number of loads from shared memory by matrix-load instructions (PTX `ldmatrix`).
    pub matrix_loads: u64,
    /// Number of asynchronous copies from global to shared memory that bypass the registers (PTX `cp.async`).
    #[serde(default)]
    pub asynchronous_copies: u64,
    /// Number of bulk copies, each of a box of a tensor or of contiguous bytes, issued once by a warp.
    #[serde(default)]
    pub bulk_copies: u64,
    /// Number of bytes that the bulk copies move.
    #[serde(default)]
    pub bulk_bytes: u64,
    /// Number of prefetches of a block of a matrix, each issued once by a warp.
    #[serde(default)]
    pub prefetches: u64,
    /// Number of arrivals at mbarriers by the operation `mbarrier_arrive`, each issued once by a warp; arrivals by
    /// completed copies and MMAs do not count.
    #[serde(default)]
    pub mbarrier_arrivals: u64,
    /// Number of shared-memory wavefronts of stores.
    pub wavefronts_stored: u64,
    /// Number of shared-memory wavefronts of loads.
    pub wavefronts_loaded: u64,
    /// Number of barriers of the block.
    pub barriers: u64,
    /// Number of barriers of the cluster.
    pub cluster_barriers: u64,
    /// Number of barriers of one warp, on targets that do not order the memory accesses of a warp.
    pub warp_barriers: u64,
    /// Number of byte permutes (PTX `prmt`).
    pub permutes: u64,
    /// Number of selects: choices between two values by a condition (PTX `selp`).
    pub selects: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// Returns the counts of two kernels that run one after the other: both counts, added.
    #[must_use]
    pub fn add_counts(self, other: Self) -> Self {
        self.merged(other, |a, b| a + b)
    }

    /// Returns, for each kind of operation, the greater of the two counts.
    #[must_use]
    pub fn componentwise_max(self, other: Self) -> Self {
        self.merged(other, u64::max)
    }

    fn merged(self, other: Self, merge: fn(u64, u64) -> u64) -> Self {
        Self {
            shuffles: merge(self.shuffles, other.shuffles),
            shuffles_xor: merge(self.shuffles_xor, other.shuffles_xor),
            swaps: merge(self.swaps, other.swaps),
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
