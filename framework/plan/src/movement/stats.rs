//! The counts and costs that every plan of data movement has.

use tilewright_kernel::Counts;

use super::{CountLowerBounds, SharedMemoryBitsPerLane};

/// Counts, shared memory, cost and lower bound of a plan of data movement.
#[derive(Debug, Clone, Default)]
pub struct PlanStats {
    /// Numbers of operations that a warp executes; the max over the warps.
    pub counts: Counts,
    /// Number of byte permutes by which a lane packs registers into the words of shared-memory accesses, or unpacks
    /// them. They are no operations of the kernel IR, so `counts` does not have them.
    pub permutes: u64,
    /// Bytes of shared memory that the plan allocates for a block.
    pub shared_bytes: u64,
    /// Bytes of the largest buffer among them. The movements of a plan run one after another, so the allocator lets their
    /// buffers share addresses.
    pub largest_buffer_bytes: u64,
    /// Bits that one lane stores to, and loads from, shared memory.
    pub shared_bits: SharedMemoryBitsPerLane,
    /// Predicted cycles of a block by the [cost model](crate::cost), with the combining operations of reductions and
    /// scans.
    pub cost: f64,
    /// Lower bound of the counts. For a layout conversion: over all plans of the same
    /// [`ConversionKind`](super::ConversionKind) between the two layouts. For a memory access: over all accesses
    /// between the two layouts. For a reduction or scan: over plans that move data by the same medium (shuffles, or
    /// shared memory). Zero for a gather, whose counts depend on run-time indices.
    pub bound: CountLowerBounds,
    /// The reason why the counts are above the bound, as text; `None` if they are not.
    pub above_bound: Option<String>,
}

impl PlanStats {
    /// Returns the sum of the stats of this plan and of the plans `others`, which run after it; bound and reason are
    /// those of this plan.
    pub(super) fn then<'a>(mut self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        for other in others {
            self.counts = self.counts.add_counts(other.counts);
            self.permutes += other.permutes;
            self.shared_bytes += other.shared_bytes;
            self.largest_buffer_bytes = self.largest_buffer_bytes.max(other.largest_buffer_bytes);
            self.shared_bits = self.shared_bits + other.shared_bits;
            self.cost += other.cost;
        }
        self
    }

    /// Returns the counts with the byte permutes that pack registers.
    #[must_use]
    pub fn counts_with_packing(&self) -> Counts {
        Counts { permutes: self.counts.permutes + self.permutes, ..self.counts }
    }

    /// Returns the stats with this bound, and with the text of `reason` if the counts are above it.
    pub(super) fn with_bound(self, bound: CountLowerBounds, reason: impl FnOnce() -> String) -> Self {
        let above_bound = (!bound.is_met(&self.counts)).then(reason);
        Self { bound, above_bound, ..self }
    }
}
