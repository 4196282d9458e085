//! What counts cost on a target, and what they cost anywhere.

use tilewright_kernel::Counts;
use tilewright_target::{Cost, TargetDescription};

/// Cycles of a block: what its warps issue, one after the other on each pipe, plus the latency of
/// each stage that the next one waits for.
///
/// `warps` is the number of warps of the block; `stages` how often results must be waited for:
/// once for exchanges, once for every round through shared memory.
#[must_use]
pub fn cost(counts: &Counts, warps: u64, stages: u64, target: &TargetDescription) -> f64 {
    let table = &target.costs;
    let [stored, loaded, by_index, by_xor] = moved(counts, target);
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
    let meet = |(count, cost): (u64, &Cost)| count as f64 * (cost.cycles + cost.latency);
    let barriers: f64 = barriers(counts, target).into_iter().map(meet).sum();
    issued * warps as f64 + latencies(&per_warp) * stages as f64 + barriers
}

/// Cycles that a warp waits where nothing hides it, in slots of the pipe of shared memory: for an exchange, for what is
/// stored, for the barrier, for what is loaded, each once.
pub fn waited(counts: &Counts, target: &TargetDescription) -> f64 {
    let cycles = latencies(&moved(counts, target)) + latencies(&barriers(counts, target));
    let slot = target.costs.shared_load_wavefront.cycles;
    if slot > 0.0 { cycles / slot } else { cycles }
}

/// What moves between threads, and what each of it costs: stored, loaded, exchanged by index and by a constant.
fn moved<'t>(counts: &Counts, target: &'t TargetDescription) -> [(u64, &'t Cost); 4] {
    let table = &target.costs;
    [
        (counts.wavefronts_stored, &table.shared_store_wavefront),
        (counts.wavefronts_loaded, &table.shared_load_wavefront),
        (counts.exchanges.saturating_sub(counts.exchanges_xor), &table.exchange),
        (counts.exchanges_xor, table.exchange_xor.as_ref().unwrap_or(&table.exchange)),
    ]
}

/// Barriers of the block and of the cluster, and what each costs.
fn barriers<'t>(counts: &Counts, target: &'t TargetDescription) -> [(u64, &'t Cost); 2] {
    let table = &target.costs;
    let of_cluster = table.cluster_barrier.as_ref().unwrap_or(&table.block_barrier);
    [(counts.barriers, &table.block_barrier), (counts.cluster_barriers, of_cluster)]
}

/// The latency of all that there is any of, each once.
fn latencies(costs: &[(u64, &Cost)]) -> f64 {
    costs.iter().filter(|(count, _)| *count > 0).map(|(_, cost)| cost.latency).sum()
}

/// The price of the counts in wavefront slots of a warp, the same on every target: an exchange and a
/// wavefront are one, a byte permute or a select a quarter, a barrier of the block or of
/// the cluster ten, of a warp one.
///
/// Compilers are compared by it (the shared-memory path of all vendors moves about one wavefront or
/// one exchange a cycle, while the latencies of most tables are assumed), so no plan is chosen over
/// one of fewer slots.
#[must_use]
pub fn slots(counts: &Counts) -> f64 {
    let whole = counts.exchanges + counts.wavefronts_stored + counts.wavefronts_loaded + counts.warp_barriers;
    let barriers = counts.barriers + counts.cluster_barriers;
    whole as f64 + (counts.permutes + counts.selects) as f64 / 4.0 + 10.0 * barriers as f64
}

/// The [`slots`] of the counts where each access of shared memory counts so many more.
pub fn slots_with_accesses(counts: &Counts, access_slots: f64) -> f64 {
    let accesses = counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads;
    slots(counts) + access_slots * accesses as f64
}
