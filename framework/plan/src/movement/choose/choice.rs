//! The choice: candidates of each kind, what they cost, and which won.

use std::fmt;

use serde::{Deserialize, Serialize};

use tilewright_layout::cute::Swizzle;
use tilewright_layout::{Layout, LinearLayout, MemoryLayout};

/// A kind of layouts, the simpler first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Elements one after the other along the axes, or as a copy fetches them.
    Plain,
    /// `Swizzle<B,M,S>` over such a layout.
    Functor,
    /// Any linear layout.
    Swizzle,
    /// Gaps in a plain layout.
    Padding,
    /// A copy that fetches other elements, so that what it writes consecutively is swizzled.
    PermutedGlobal,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Functor, Self::Swizzle, Self::Padding, Self::PermutedGlobal];

    /// The name in text and JSON.
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

    /// The kind of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What one accessor takes, for one warp; where warps differ, the most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessorStats {
    /// Wavefronts of the plan.
    pub wavefronts: u64,
    /// Of these, how many there are because lanes of a phase want different words of a bank.
    pub excess: u64,
    /// Wavefronts that it takes at least, whatever the layout.
    pub least: u64,
    /// Elements that a lane moves in one access.
    pub vector_elements: u64,
    /// The row of the instruction table by which they move; plain accesses where there is none.
    pub instruction: Option<String>,
}

/// What a copy from global memory fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// Which elements each lane fetches, as a distributed layout.
    pub layout: LinearLayout,
    /// Units of global memory that it touches.
    pub units: u64,
    /// Units that the copy as it was given touches.
    pub straight_units: u64,
}

/// A layout that was weighed: the best of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLayoutCandidate {
    /// Its kind.
    pub kind: Kind,
    /// The layout; its alignment is the most that an access wants.
    pub memory: MemoryLayout,
    /// What each accessor takes, in their order.
    pub accessors: Vec<AccessorStats>,
    /// Bytes of a block.
    pub bytes: u64,
    /// What the accessor that is a copy fetches; absent where there is none.
    pub fetch: Option<Fetch>,
    /// The swizzle over the axes in some order, where the kind is [`Kind::Functor`].
    pub functor: Option<Swizzle>,
    /// Why it may not be used, where that is so.
    pub rejected: Option<String>,
    pub(super) weighted: u64,
    /// Weighted wavefronts, those that are as good as none left out.
    pub(super) clipped: u64,
}

/// The better is the less: units of global memory that are fetched beyond the straight copy's, weighted
/// wavefronts, bytes, simplicity, and the plainness of the linear map.
pub(super) type Score = (u64, u64, u64, Kind, u32);

impl SharedLayoutCandidate {
    /// Wavefronts of all accessors, each by its weight.
    #[must_use]
    pub fn wavefronts(&self) -> u64 {
        self.weighted
    }

    /// Wavefronts of all accessors due to conflicts, unweighted.
    #[must_use]
    pub fn excess(&self) -> u64 {
        self.accessors.iter().map(|accessor| accessor.excess).sum()
    }

    pub(super) fn score(&self) -> Score {
        let extra = self.fetch.as_ref().map_or(0, |fetch| fetch.units.saturating_sub(fetch.straight_units));
        let ones = self.memory.linear.columns().iter().map(|column| column.count_ones()).sum();
        (extra, self.clipped, self.bytes, self.kind, ones)
    }

    /// The layout, as families and notations take it.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::Memory(self.memory.clone())
    }
}

/// What was chosen, and from what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryChoice {
    /// The best of each kind, the chosen first, those that may not be used last.
    pub candidates: Vec<SharedLayoutCandidate>,
    /// Kinds without a candidate, and why.
    pub rejected: Vec<(Kind, String)>,
    /// Weighted wavefronts that all layouts take at least: what each accessor takes alone.
    pub lower_bound: u64,
}

impl MemoryChoice {
    pub(super) fn of(
        mut candidates: Vec<SharedLayoutCandidate>,
        rejected: Vec<(Kind, String)>,
        lower_bound: u64,
    ) -> Self {
        candidates.sort_by_key(|candidate| (candidate.rejected.is_some(), candidate.score()));
        Self { candidates, rejected, lower_bound }
    }

    /// The layout that won.
    ///
    /// There always is one: a choice without is an error instead.
    #[must_use]
    pub fn chosen(&self) -> &SharedLayoutCandidate {
        &self.candidates[0]
    }

    /// The fewest weighted wavefronts of all layouts that were weighed, those included that may not be
    /// used.
    #[must_use]
    pub fn best_known(&self) -> u64 {
        self.candidates.iter().map(|candidate| candidate.weighted).min().unwrap_or(0)
    }

    /// Weighted wavefronts of the chosen layout above the lower bound.
    #[must_use]
    pub fn gap(&self) -> u64 {
        self.chosen().weighted.saturating_sub(self.lower_bound)
    }

    /// Weighted wavefronts of the chosen layout above the best that is known.
    #[must_use]
    pub fn gap_to_best_known(&self) -> u64 {
        self.chosen().weighted.saturating_sub(self.best_known())
    }
}
