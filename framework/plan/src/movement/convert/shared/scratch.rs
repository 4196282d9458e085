//! Plans conversions through scratch in shared memory, in one or more rounds.

use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::price::cost;
use crate::movement::tile::{Accesses, Figures};
use crate::movement::{Bound, PlanFigures, SharedBits};
use tilewright_kernel::{Counts, Element, Scope};
use tilewright_target::TargetDescription;

/// How data goes through scratch memory.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    pub(super) element: Element,
    pub(super) lane_bits: u32,
    pub(super) bytes: u64,
    pub(super) scope: Scope,
    pub(super) swizzle: ScratchLayout,
    pub(super) rounds: u32,
    pub(super) store: Accesses,
    pub(super) load: Accesses,
}

impl Scratch {
    pub(crate) fn swizzle(&self) -> &ScratchLayout {
        &self.swizzle
    }

    /// The figures of a plan that executes the counts, against a bound.
    pub(crate) fn figures(&self, counts: Counts, bound: Bound, warps: u64, target: &TargetDescription) -> PlanFigures {
        let bits = |side: &Accesses| side.figures.elements() * u64::from(self.element.bits());
        PlanFigures {
            counts,
            shared_bytes: self.bytes,
            shared_bits: SharedBits { stored: bits(&self.store), loaded: bits(&self.load) },
            cost: cost(&counts, warps, self.rounds(), target),
            bound,
            above_bound: self.why_above(&counts, &bound),
        }
    }

    /// How often scratch memory is filled.
    pub(crate) fn rounds(&self) -> u64 {
        1 << self.rounds
    }

    /// Why the counts are above the bound, where they are.
    fn why_above(&self, counts: &Counts, bound: &Bound) -> Option<String> {
        let sides = [
            ("stores", counts.wavefronts_stored, bound.wavefronts_stored, &self.store),
            ("loads", counts.wavefronts_loaded, bound.wavefronts_loaded, &self.load),
        ];
        let above = sides.into_iter().filter(|(_, have, least, _)| have > least);
        let reasons: Vec<_> = above.map(|(what, have, least, side)| side.why_above(what, have, least)).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    pub(crate) fn counts(&self, target: &TargetDescription) -> Counts {
        let (store, load) = (&self.store.figures, &self.load.figures);
        let barriers = 2 * self.rounds() - 1;
        let split = |side: &Figures| if side.instruction.is_some() { (0, side.issued()) } else { (side.issued(), 0) };
        let ((shared_stores, matrix_stores), (shared_loads, matrix_loads)) = (split(store), split(load));
        let mut counts = Counts {
            shared_stores,
            shared_loads,
            matrix_stores,
            matrix_loads,
            wavefronts_stored: store.wavefronts(),
            wavefronts_loaded: load.wavefronts(),
            ..Counts::default()
        };
        match self.scope {
            Scope::Warp if target.shared.warp_ordered => {}
            Scope::Warp => counts.warp_barriers = barriers,
            Scope::Block | Scope::Cluster => counts.barriers = barriers,
        }
        counts
    }
}
