//! The predicted time by which plans of data movement are ordered, and a price in shared-memory wavefronts for
//! comparisons with other compilers.

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

use crate::cost::WarpWork;

/// Number of selects, or of byte permutes, that cost as much as a wavefront of shared memory.
pub(crate) const SELECTS_PER_WAVEFRONT: u64 = 4;

/// Returns the predicted cycles of a block by the [cost model](crate::cost). All plans of data movement are ordered by
/// them.
///
/// `warps` is the number of warps of the block. `stages` is the number of dependent stages, each ending in a wait for
/// its results: one for all shuffles, one for each round through shared memory.
#[must_use]
pub fn predict_cycles(counts: &Counts, warps: u64, stages: u64, target: &TargetDescription) -> f64 {
    WarpWork::from_counts(*counts, stages).block_cycles(warps, target)
}

/// Returns the predicted cycles of a block without latency, which add up over consecutive plans; otherwise as
/// [`predict_cycles`].
pub(super) fn occupied_cycles(counts: &Counts, warps: u64, target: &TargetDescription) -> f64 {
    WarpWork::from_counts(*counts, 0).predict_time(warps, target).throughput_cycles() * warps as f64
}

/// Returns the price of operation counts in shared-memory wavefronts of a warp, the same on every target. A shuffle or
/// a wavefront costs 1, a byte permute or a select 1/4, a block or cluster barrier 10, a warp barrier 1.
///
/// Comparisons with other compilers use this price, because it depends on no target constant. It orders no plans.
///
/// # Examples
/// ```
/// use tilewright_kernel::Counts;
/// use tilewright_plan::movement::price_counts_in_wavefronts;
/// assert_eq!(price_counts_in_wavefronts(&Counts { shuffles: 3, barriers: 1, selects: 2, ..Counts::default() }), 13.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn price_counts_in_wavefronts(counts: &Counts) -> f64 {
    let single_cost_ops = counts.shuffles + counts.wavefronts_stored + counts.wavefronts_loaded + counts.warp_barriers;
    let barriers = counts.barriers + counts.cluster_barriers;
    single_cost_ops as f64
        + (counts.permutes + counts.selects) as f64 / SELECTS_PER_WAVEFRONT as f64
        + 10.0 * barriers as f64
}

/// Returns the number of shared-memory accesses that a warp issues.
pub(super) fn accesses(counts: &Counts) -> u64 {
    counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads
}
