//! Prices of operation counts: cycles on one target, and target-independent shared-memory wavefronts.

use tilewright_kernel::Counts;
use tilewright_target::{Cost, TargetDescription};

use crate::cost::{barriers, latencies, moved_words};

/// Returns the cycles of a block: the issue cycles of its warps, added up over the pipes, plus the latency of each
/// stage.
///
/// `warps` is the number of warps of the block. `stages` is the number of dependent stages, each ending in a wait for
/// its results: one for all shuffles, one for each round through shared memory.
#[must_use]
pub fn cycles(counts: &Counts, warps: u64, stages: u64, target: &TargetDescription) -> f64 {
    let table = &target.costs;
    let [stored, loaded, by_index, by_xor] = moved_words(counts, target);
    let per_warp = [
        stored,
        loaded,
        by_index,
        by_xor,
        (counts.permutes, &table.permute),
        (counts.selects, &table.select),
        (counts.warp_barriers, &table.warp_barrier),
    ];
    let issued: f64 = per_warp.iter().map(|(count, cost)| *count as f64 * cost.cycles).sum();
    // A barrier ends when the last warp has arrived, and each warp occupies the pipe for its own arrival.
    let barrier_cycles = |(count, cost): (u64, &Cost)| count as f64 * (cost.cycles * warps as f64 + cost.latency);
    let barriers: f64 = barriers(counts, target).into_iter().map(barrier_cycles).sum();
    issued * warps as f64 + latencies(&per_warp) * stages as f64 + barriers
}

/// Returns the price of operation counts in shared-memory wavefronts of a warp, the same on every target. A shuffle or
/// a wavefront costs 1, a byte permute or a select 1/4, a block or cluster barrier 10, a warp barrier 1.
///
/// Plans are compared by this price first, so a plan is never chosen over a cheaper one. Reason: the shared-memory path
/// of all vendors moves about one wavefront or one shuffle a cycle, while the latencies of most target descriptions are
/// assumed.
///
/// # Examples
/// ```
/// use tilewright_kernel::Counts;
/// use tilewright_plan::movement::price;
/// assert_eq!(price(&Counts { shuffles: 3, barriers: 1, selects: 2, ..Counts::default() }), 13.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn price(counts: &Counts) -> f64 {
    let single_cost_ops = counts.shuffles + counts.wavefronts_stored + counts.wavefronts_loaded + counts.warp_barriers;
    let barriers = counts.barriers + counts.cluster_barriers;
    single_cost_ops as f64 + (counts.permutes + counts.selects) as f64 / 4.0 + 10.0 * barriers as f64
}

/// Returns the [`price`] of the counts plus `access_price` for each shared-memory access.
pub(super) fn price_with_accesses(counts: &Counts, access_price: f64) -> f64 {
    price(counts) + access_price * accesses(counts) as f64
}

/// Number of shared-memory accesses that a warp issues.
pub(super) fn accesses(counts: &Counts) -> u64 {
    counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads
}
