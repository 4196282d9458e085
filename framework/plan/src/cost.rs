//! The cost model: the work of a warp on each resource of a compute unit, and its time.
//!
//! [`WarpWork`] counts what a warp does and knows no target. [`WarpWork::predict_time`] turns it into cycles of the
//! compute unit for each resource, by the constants of the target file. All warps of a unit share its resources, so the
//! figures of one warp compare across layouts, instructions and plans of one block size. docs/cost-model.md has the
//! equations.

use tilewright_kernel::Counts;
use tilewright_target::{Cost, CostTable, DeviceThroughput, Direction, TargetDescription};

use crate::movement::GlobalAccessPlan;

/// Plain instructions that compute the address of one access of global memory: two halves of a 64-bit addition.
const ADDRESS_INSTRUCTIONS: f64 = 2.0;

/// Plain instructions that compute the address of one access of shared memory: an addition of a constant to an address
/// that several accesses share.
const SHARED_ADDRESS_INSTRUCTIONS: f64 = 1.0;

/// Bytes that the first-level cache (L1) of a compute unit delivers in a cycle. The documents of all vendors give 64 or
/// 128.
const FIRST_LEVEL_BYTES: f64 = 128.0;

/// Fewest warps that are assumed to share a compute unit, one for each of its schedulers. One of them computes while
/// another waits: kernels of few warps in a block have several blocks on a unit.
const RESIDENT_WARPS: u64 = 4;

/// Latency of device memory in cycles if the target file has none. Published latencies are 480 to 940.
const MEMORY_LATENCY: f64 = 600.0;

/// Assumed ratio of the bandwidth of the last-level cache to that of device memory. Published ratios are 2.6 to 3.2
/// (RRZE gpu-benches: A100, H100 and H200 against their data sheets).
pub const CACHE_BANDWIDTH_RATIO: f64 = 3.0;

/// Assumed share of the bandwidth of device memory that programs reach. Published shares are 0.81 to 0.97 (RRZE
/// gpu-benches, microbenchmarks of A100, H200, RTX 5090, B300 and MI210); [`CACHE_BANDWIDTH_RATIO`] needs no such
/// share, since it divides measured bandwidth by the data sheet's.
pub const REACHED_BANDWIDTH_SHARE: f64 = 0.9;

/// Assumed cost of a request of a line to the last-level cache, as bytes that it would transfer in the same time. It
/// has the least error for half of 154 programs that were timed on an H100 (docs/cost-model.md).
pub const CACHE_REQUEST_COST_IN_BYTES: f64 = 32.0;

/// Work of one warp, by resource; the maximum if warps differ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WarpWork {
    /// Number of plain instructions (arithmetic, selects) that `counts` does not include.
    pub instructions: f64,
    /// Numbers of operations that move data between threads: shuffles, accesses of shared memory and their wavefronts,
    /// barriers, asynchronous copies.
    pub counts: Counts,
    /// Global-memory accesses of the warp, with their cache lines and sectors.
    pub global: GlobalWork,
    /// Number of matrix instructions (MMA) that the warp issues.
    pub matrix_instructions: f64,
    /// Cycles of the compute unit's matrix pipes for all MMA instructions of the warp.
    pub matrix_cycles: f64,
    /// Operations of the longest dependent chain: each waits for the one before. Accesses of shared memory count as
    /// wavefronts, plain instructions as selects.
    pub chain: Counts,
}

/// Work of one warp on global memory. A warp that uses a part of a sector pays the whole sector.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GlobalWork {
    /// Number of load or store instructions that the warp issues.
    pub accesses: f64,
    /// Cycles of the address unit for the warp's accesses; zero if the target states no rate.
    pub address_cycles: f64,
    /// Number of lines of the first-level cache (L1) that the warp's accesses look up, counted for each access.
    pub lines: f64,
    /// Number of sectors that the warp's loads touch, counted for each load. The first-level cache (L1) serves them.
    pub loaded_sectors: f64,
    /// Number of sectors that the warp's stores touch, counted for each store. They bypass the first-level cache (L1),
    /// so repeated sectors are not merged.
    pub stored_sectors: f64,
}

impl GlobalWork {
    /// Returns the work of one of the `warps` warps of a block that together execute the access plan `plan`.
    #[must_use]
    pub fn from_access(plan: &GlobalAccessPlan, direction: Direction, warps: u32) -> Self {
        let of_warp = |all: u64| all as f64 / f64::from(warps.max(1));
        let (lines, sectors) = (of_warp(plan.lines), of_warp(plan.transactions));
        let (loaded_sectors, stored_sectors) = match direction {
            Direction::Load => (sectors, 0.0),
            Direction::Store => (0.0, sectors),
        };
        let (accesses, address_cycles) = (plan.accesses as f64, of_warp(plan.address_cycles));
        Self { accesses, address_cycles, lines, loaded_sectors, stored_sectors }
    }

    /// Returns the cycles of the memory pipe, the longest of: one cycle for each access or the cycles of the address
    /// unit, one for each line, the bytes of loaded sectors at the rate of the first-level cache, and the bytes of
    /// stored sectors at the compute unit's share of the last-level cache.
    fn cycles(&self, target: &TargetDescription) -> f64 {
        let bytes = f64::from(target.global.transaction_bytes);
        let share = target.throughput.as_ref().map_or(FIRST_LEVEL_BYTES / 4.0, DeviceThroughput::bytes_per_cycle);
        let loaded = self.loaded_sectors * bytes / FIRST_LEVEL_BYTES;
        let stored = self.stored_sectors * bytes / (CACHE_BANDWIDTH_RATIO * share).clamp(1.0, FIRST_LEVEL_BYTES);
        self.accesses.max(self.address_cycles).max(self.lines).max(loaded).max(stored)
    }
}

/// The time that one warp's [`WarpWork`] takes on each resource, in cycles of the compute unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WarpTime {
    /// Time in the issue slots of all instructions and on the arithmetic pipe.
    pub issue: f64,
    /// Time on the shared-memory pipe, which serves wavefronts, and the shuffles that are no arithmetic instructions.
    pub shared: f64,
    /// Time on the global-memory pipe, for accesses, cache lines and sectors.
    pub global: f64,
    /// Time on the matrix pipes, for MMA instructions.
    pub matrix: f64,
    /// Time on barriers, without the latency of waiting.
    pub barriers: f64,
    /// Latency of the dependent chain and of barriers, divided by the number of warps that share the compute unit,
    /// which hide each other's waits.
    pub latency: f64,
}

impl WarpTime {
    /// Returns the time in cycles if nothing overlaps: the sum over the resources. Search adds the times of many
    /// operations, so it needs a sum; equal weights are the first guess of the bottleneck.
    #[must_use]
    pub fn total_cycles(&self) -> f64 {
        self.throughput_cycles() + self.latency
    }

    /// Returns the sum of the time in cycles without the latency, for work whose latency is hidden by other iterations
    /// of a pipelined loop.
    #[must_use]
    pub fn throughput_cycles(&self) -> f64 {
        self.issue + self.shared + self.global + self.matrix + self.barriers
    }
}

impl WarpWork {
    /// Returns the work of operations that move data between threads, in `stages` dependent stages. Each stage waits
    /// for one wavefront stored, one loaded, and one shuffle of each kind, if the counts have any.
    #[must_use]
    pub fn from_counts(counts: Counts, stages: u64) -> Self {
        let [has_stored, has_loaded, by_index, by_xor, swaps] = moved_words(&counts).map(|count| count.min(1) * stages);
        let chain = Counts {
            wavefronts_stored: has_stored,
            wavefronts_loaded: has_loaded,
            shuffles: by_index + by_xor + swaps,
            shuffles_xor: by_xor,
            swaps,
            ..Counts::default()
        };
        Self { counts, chain, ..Self::default() }
    }

    /// Returns the cycles of a compute unit for a block of `warps` warps that each do this work.
    #[must_use]
    pub fn block_cycles(&self, warps: u64, target: &TargetDescription) -> f64 {
        self.predict_time(warps, target).total_cycles() * warps as f64
    }

    /// Returns the number of instructions that the warp issues, address arithmetic included.
    #[must_use]
    pub fn issued_instructions(&self) -> f64 {
        let counts = &self.counts;
        let accesses = counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads;
        let barriers = counts.barriers + counts.cluster_barriers + counts.warp_barriers;
        let addressed = accesses as f64 * (1.0 + SHARED_ADDRESS_INSTRUCTIONS);
        let moves = counts.shuffles + counts.permutes + counts.selects;
        let copies = counts.asynchronous_copies as f64 * (1.0 + ADDRESS_INSTRUCTIONS + SHARED_ADDRESS_INSTRUCTIONS);
        let global = self.global.accesses * (1.0 + ADDRESS_INSTRUCTIONS);
        (moves + barriers) as f64 + copies + addressed + self.instructions + global + self.matrix_instructions
    }

    /// Returns the time in cycles of this work on a target, for one warp of a block of `warps` warps.
    ///
    /// # Examples
    /// ```
    /// use tilewright_kernel::Counts;
    /// use tilewright_plan::cost::WarpWork;
    /// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
    /// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
    /// // The same wavefronts by fewer accesses take less time.
    /// let of = |shared_loads| Counts { shared_loads, wavefronts_loaded: 8, ..Counts::default() };
    /// let time = |loads| WarpWork::from_counts(of(loads), 1).predict_time(4, &target).total_cycles();
    /// assert!(time(2) < time(8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn predict_time(&self, warps: u64, target: &TargetDescription) -> WarpTime {
        let (table, counts) = (&target.costs, &self.counts);
        let cycles = |costs: &[(u64, &Cost)]| -> f64 { costs.iter().map(|(n, cost)| *n as f64 * cost.cycles).sum() };
        let latencies =
            |costs: &[(u64, &Cost)]| -> f64 { costs.iter().map(|(n, cost)| *n as f64 * cost.latency).sum() };
        let plain = plain_instruction_cycles(target);
        let alone = costs_of_arithmetic(counts, table);
        let barriers = [
            (counts.barriers, &table.block_barrier),
            (counts.cluster_barriers, table.cluster_barrier.as_ref().unwrap_or(&table.block_barrier)),
            (counts.warp_barriers, &table.warp_barrier),
        ];
        let chain = &self.chain;
        let waited = latencies(&costs_of_moves(chain, table)) + latencies(&costs_of_arithmetic(chain, table));
        let plain_instructions = self.issued_instructions() - alone.iter().map(|(n, _)| n).sum::<u64>() as f64;
        WarpTime {
            issue: plain_instructions * plain + cycles(&alone),
            shared: cycles(&costs_of_moves(counts, table)),
            global: self.global.cycles(target),
            matrix: self.matrix_cycles,
            barriers: cycles(&barriers),
            // At a barrier of the block all warps wait together; at barriers of single warps, the waits of different
            // warps overlap.
            latency: (waited + latencies(&barriers)) / warps.max(RESIDENT_WARPS) as f64,
        }
    }
}

/// Returns the cycles of the compute unit that one plain instruction of a warp takes: its issue slot, or its time on
/// the arithmetic pipe if that is longer.
#[must_use]
pub fn plain_instruction_cycles(target: &TargetDescription) -> f64 {
    let slot = target.throughput.as_ref().map_or(0.5, |rates| 1.0 / rates.issues_per_cycle.max(1.0));
    // Most plain instructions are integer arithmetic, which has the rate of selects.
    slot.max(target.costs.select.cycles)
}

/// Returns the latency in cycles of a load from device memory: the target's, or [`MEMORY_LATENCY`] if its file has
/// none.
pub(crate) fn memory_latency(target: &TargetDescription) -> f64 {
    target.throughput.as_ref().map_or(MEMORY_LATENCY, |rates| rates.memory_latency)
}

/// Returns the numbers of operations that move words between threads, in this order: wavefronts of stores, wavefronts
/// of loads, shuffles by an index, shuffles by a lane xor, swaps.
fn moved_words(counts: &Counts) -> [u64; 5] {
    let by_index = counts.shuffles.saturating_sub(counts.shuffles_xor + counts.swaps);
    [counts.wavefronts_stored, counts.wavefronts_loaded, by_index, counts.shuffles_xor, counts.swaps]
}

/// Returns the operations on the shared-memory pipe, in the order of [`moved_words`]: for each kind the number of
/// operations and the cost of one.
fn costs_of_moves<'t>(counts: &Counts, table: &'t CostTable) -> [(u64, &'t Cost); 5] {
    let [stored, loaded, by_index, by_xor, swaps] = moved_words(counts);
    let unless_arithmetic = |count, cost: &Option<Cost>| (if cost.is_none() { count } else { 0 }, &table.shuffle);
    [
        (stored, &table.shared_store_wavefront),
        (loaded, &table.shared_load_wavefront),
        (by_index, &table.shuffle),
        unless_arithmetic(by_xor, &table.shuffle_xor),
        unless_arithmetic(swaps, &table.swap),
    ]
}

/// Returns the operations on the arithmetic pipe whose costs include the issue slot: byte permutes, selects, and the
/// shuffles by a lane xor and swaps for which the target file states a cost.
fn costs_of_arithmetic<'t>(counts: &Counts, table: &'t CostTable) -> [(u64, &'t Cost); 4] {
    let if_arithmetic = |count, cost: &'t Option<Cost>| cost.as_ref().map_or((0, &table.select), |cost| (count, cost));
    let [.., by_xor, swaps] = moved_words(counts);
    [
        (counts.permutes, &table.permute),
        (counts.selects, &table.select),
        if_arithmetic(by_xor, &table.shuffle_xor),
        if_arithmetic(swaps, &table.swap),
    ]
}

/// Returns the number of shuffles on the shared-memory pipe, and the number of plain instructions that the other shuffles
/// take.
#[must_use]
pub fn count_shuffles_by_pipe(counts: &Counts, target: &TargetDescription) -> (u64, f64) {
    let [_, _, on_shared @ ..] = costs_of_moves(counts, &target.costs);
    let [_, _, others @ ..] = costs_of_arithmetic(counts, &target.costs);
    let instructions =
        others.iter().map(|(count, cost)| *count as f64 * cost.cycles / plain_instruction_cycles(target));
    (on_shared.iter().map(|(count, _)| count).sum(), instructions.sum())
}
