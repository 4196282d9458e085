//! The figures that plans of data movement have in common.

use tilewright_kernel::Counts;

use super::{Bound, SharedBits};

/// What a plan takes, and the lower bound of that.
#[derive(Debug, Clone, Default)]
pub struct PlanStats {
    /// Operations that a warp executes; where warps differ, the most.
    pub counts: Counts,
    /// Bytes of shared memory that the plan takes of a block for itself.
    pub shared_bytes: u64,
    /// Bits that a lane moves through shared memory.
    pub shared_bits: SharedBits,
    /// Cycles of the block by the target's table; the combining of reductions and scans is not counted.
    pub cost: f64,
    /// Counts that no plan can go below: for a conversion no plan of its kind, for an access of memory none between these
    /// layouts.
    pub bound: Bound,
    /// Reason why the counts are above the bound, if they are.
    pub above_bound: Option<String>,
}

impl PlanStats {
    /// The figures of this plan followed by others; bound and reason stay.
    pub(super) fn then<'a>(mut self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        for other in others {
            self.counts = self.counts.plus(other.counts);
            self.shared_bytes += other.shared_bytes;
            self.shared_bits = self.shared_bits + other.shared_bits;
            self.cost += other.cost;
        }
        self
    }

    /// The same figures with a bound, and with the reason if the counts are above it.
    pub(super) fn with_bound(self, bound: Bound, reason: impl FnOnce() -> String) -> Self {
        let above_bound = (!bound.is_met(&self.counts)).then(reason);
        Self { bound, above_bound, ..self }
    }
}
