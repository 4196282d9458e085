//! What counts cost on a target.

use crate::kernel::Counts;
use crate::target::TargetDescription;

/// Cycles of a block: what its warps issue, one after the other on each pipe, plus the latency of
/// each stage that the next one waits for.
///
/// `warps` is the number of warps of the block; `stages` how often results must be waited for:
/// once for exchanges, once for every round through shared memory.
#[must_use]
pub fn cost(counts: &Counts, warps: u64, stages: u64, target: &TargetDescription) -> f64 {
    let table = &target.costs;
    let per_warp = [
        (counts.wavefronts_stored, &table.shared_store_wavefront),
        (counts.wavefronts_loaded, &table.shared_load_wavefront),
        (counts.exchanges, &table.exchange),
        (counts.permutes, &table.permute),
        (counts.selects, &table.select),
        (counts.warp_barriers, &table.warp_barrier),
    ];
    let issued: f64 = per_warp.iter().map(|(count, cost)| *count as f64 * cost.cycles).sum();
    let waited: f64 = per_warp.iter().filter(|(count, _)| *count > 0).map(|(_, cost)| cost.latency).sum();
    let barriers = counts.barriers as f64 * (table.block_barrier.cycles + table.block_barrier.latency);
    issued * warps as f64 + waited * stages as f64 + barriers
}
