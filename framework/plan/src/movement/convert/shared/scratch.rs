//! The plan of a conversion through scratch memory, in one or more rounds.

use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::price::predict_cycles;
use crate::movement::tile::Accesses;
use crate::movement::{CountLowerBounds, PlanStats};
use tilewright_kernel::{CollectiveScope, Counts};
use tilewright_target::TargetDescription;

/// Stores to and loads from scratch memory, with the layout of that memory. The memory is filled once in each round.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    pub(super) lane_bits: u32,
    pub(super) bytes: u64,
    pub(super) scope: CollectiveScope,
    pub(super) swizzle: ScratchLayout,
    pub(super) rounds: u32,
    pub(super) store: Accesses,
    pub(super) load: Accesses,
}

impl Scratch {
    pub(crate) fn swizzle(&self) -> &ScratchLayout {
        &self.swizzle
    }

    /// Returns the stats of a plan with these operation counts of a warp and this lower bound, for a block of `warps`
    /// warps.
    pub(crate) fn stats(
        &self,
        counts: Counts,
        bound: CountLowerBounds,
        warps: u64,
        target: &TargetDescription,
    ) -> PlanStats {
        let permutes = self.store.stats.permutes + self.load.stats.permutes;
        PlanStats {
            counts,
            permutes,
            shared_bytes: self.bytes,
            largest_buffer_bytes: self.bytes,
            shared_bits: self.store.shared_bits() + self.load.shared_bits(),
            cost: predict_cycles(&counts, warps, self.rounds(), target),
            bound,
            above_bound: self.why_above(&counts, &bound),
        }
    }

    /// Returns the number of rounds: how often the scratch memory is filled.
    pub(crate) fn rounds(&self) -> u64 {
        1 << self.rounds
    }

    /// Returns the reason why the counts exceed the lower bound; `None` if they do not.
    fn why_above(&self, counts: &Counts, bound: &CountLowerBounds) -> Option<String> {
        let reasons: Vec<_> =
            [&self.store, &self.load].into_iter().filter_map(|side| side.why_above(counts, bound)).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    pub(crate) fn counts(&self, target: &TargetDescription) -> Counts {
        let barriers = 2 * self.rounds() - 1;
        let of = |side: &Accesses| side.counts(side.stats.wavefronts());
        let mut counts = of(&self.store).add_counts(of(&self.load));
        match self.scope {
            CollectiveScope::Warp if target.shared.warp_ordered => {}
            CollectiveScope::Warp => counts.warp_barriers = barriers,
            CollectiveScope::Block | CollectiveScope::Cluster => counts.barriers = barriers,
        }
        counts
    }
}
