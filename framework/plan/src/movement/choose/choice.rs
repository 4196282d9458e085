//! The result of choosing a shared-memory layout: the best layout, and the candidates of each kind with their costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use tilewright_layout::cute::Swizzle;
use tilewright_layout::{Layout, LinearLayout, MemoryLayout};

/// A kind of shared-memory layout; simpler kinds compare lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedLayoutKind {
    /// The elements follow each other along the axes, or in the order of a copy's fetches.
    Plain,
    /// `Swizzle<B,M,S>` (CuTe) over a plain layout.
    Functor,
    /// Any linear layout: a general XOR swizzle.
    Swizzle,
    /// A plain layout with padding.
    Padding,
    /// A copy from global memory permutes the elements that it fetches, so that its consecutive writes fill a swizzled
    /// layout.
    PermutedGlobal,
}

impl SharedLayoutKind {
    /// All kinds, the simplest first.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Functor, Self::Swizzle, Self::Padding, Self::PermutedGlobal];

    /// Returns the name of the kind in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Functor => "functor",
            Self::Swizzle => "swizzle",
            Self::Padding => "padding",
            Self::PermutedGlobal => "permuted_global",
        }
    }

    /// Returns the kind with the name `name`, as [`SharedLayoutKind::name`] returns it; `None` for other names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for SharedLayoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The counts of one accessor (a store or load of the tensor), for the busiest warp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessorStats {
    /// Shared-memory wavefronts of the planned accesses.
    pub wavefronts: u64,
    /// Number of selects by which threads that hold replicas share the work of a store.
    #[serde(skip_serializing_if = "is_zero")]
    pub selects: u64,
    /// Number of byte permutes that pack registers into the words of the accesses, or unpack them.
    #[serde(skip_serializing_if = "is_zero")]
    pub permutes: u64,
    /// Number of wavefronts that are due to bank conflicts: those above the minimum for accesses of this width.
    pub excess: u64,
    /// Lower bound of the wavefronts over all memory layouts.
    #[serde(rename = "least")]
    pub min_wavefronts: u64,
    /// Number of elements that a lane moves in one access.
    pub vector_elements: u64,
    /// Name of the instruction that makes the accesses; `None` for plain accesses.
    pub instruction: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The elements that a copy from global memory fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalFetchLayout {
    /// The elements that each lane fetches, as a distributed layout.
    pub layout: LinearLayout,
    /// Number of global-memory transactions of all warps of a block that the copy takes with this layout.
    pub transactions: u64,
    /// The same number for a copy that fetches without a permutation.
    pub straight_transactions: u64,
}

/// The best shared-memory layout of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLayoutCandidate {
    /// The kind of the layout.
    pub kind: SharedLayoutKind,
    /// The memory layout; its alignment is the largest that an access needs.
    pub memory: MemoryLayout,
    /// Counts of each accessor (store or load), in the caller's order of the accessors.
    pub accessors: Vec<AccessorStats>,
    /// Bytes of shared memory that the tensor takes in a block.
    pub bytes: u64,
    /// The elements that the accessor with a copy fetches from global memory; `None` if no accessor is a copy.
    pub fetch: Option<GlobalFetchLayout>,
    /// The swizzle that [`SharedLayoutKind::Functor`] applies to a plain layout of the axes; `None` for other kinds.
    pub functor: Option<Swizzle>,
    /// The reason why the constraints do not allow the layout; `None` if they allow it.
    pub rejected: Option<String>,
    pub(super) weighted: u64,
    /// The price in quarters of a wavefront: four for each wavefront, one for each select and byte permute of all
    /// accessors, times the accessors' weights.
    pub(super) price: u64,
    /// The price by which the candidate is ranked: `price`, but at least the price of the lower bound of wavefronts
    /// plus the tolerated excess.
    pub(super) clipped: u64,
}

/// The order of candidates; a lower score is better. Fields: global-memory transactions beyond those of the unpermuted
/// copy, the clipped price, bytes, kind, number of set bits of the linear map.
pub(super) type Score = (u64, u64, u64, SharedLayoutKind, u32);

impl SharedLayoutCandidate {
    /// Returns the wavefronts of all accessors, each times the accessor's weight.
    #[must_use]
    pub fn weighted_wavefronts(&self) -> u64 {
        self.weighted
    }

    /// Returns the number of wavefronts of all accessors that are due to bank conflicts, without the accessors'
    /// weights.
    #[must_use]
    pub fn conflict_wavefronts(&self) -> u64 {
        self.accessors.iter().map(|accessor| accessor.excess).sum()
    }

    pub(super) fn score(&self) -> Score {
        let extra =
            self.fetch.as_ref().map_or(0, |fetch| fetch.transactions.saturating_sub(fetch.straight_transactions));
        let ones = self.memory.linear.columns().iter().map(|column| column.count_ones()).sum();
        (extra, self.clipped, self.bytes, self.kind, ones)
    }

    /// Returns the layout as a value of the general layout type, which layout families and text notations take.
    #[must_use]
    pub fn to_layout(&self) -> Layout {
        Layout::Memory(self.memory.clone())
    }
}

/// The result of [`choose_shared_layout`](super::choose_shared_layout).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedSharedLayouts {
    /// The best layout of each kind: the chosen one first, layouts that the constraints do not allow last.
    pub candidates: Vec<SharedLayoutCandidate>,
    /// The kinds without a candidate, each with the reason.
    pub rejected: Vec<(SharedLayoutKind, String)>,
    /// Lower bound of the weighted wavefronts over all layouts: the sum of the accessors' lower bounds.
    pub lower_bound: u64,
}

impl RankedSharedLayouts {
    pub(super) fn of(
        mut candidates: Vec<SharedLayoutCandidate>,
        rejected: Vec<(SharedLayoutKind, String)>,
        lower_bound: u64,
    ) -> Self {
        candidates.sort_by_key(|candidate| (candidate.rejected.is_some(), candidate.score()));
        Self { candidates, rejected, lower_bound }
    }

    /// Returns the chosen layout, which always exists: [`choose_shared_layout`](super::choose_shared_layout) fails
    /// otherwise.
    #[must_use]
    pub fn chosen(&self) -> &SharedLayoutCandidate {
        &self.candidates[0]
    }

    /// Returns the fewest weighted wavefronts of all compared layouts, including those that the constraints do not
    /// allow.
    #[must_use]
    pub fn fewest_known_wavefronts(&self) -> u64 {
        self.candidates.iter().map(|candidate| candidate.weighted).min().unwrap_or(0)
    }

    /// Returns the number of weighted wavefronts by which the chosen layout exceeds the lower bound.
    #[must_use]
    pub fn wavefronts_above_bound(&self) -> u64 {
        self.chosen().weighted.saturating_sub(self.lower_bound)
    }

    /// Returns the number of weighted wavefronts by which the chosen layout exceeds the fewest of all compared layouts.
    #[must_use]
    pub fn wavefronts_above_best_known(&self) -> u64 {
        self.chosen().weighted.saturating_sub(self.fewest_known_wavefronts())
    }
}
