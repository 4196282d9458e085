//! Predicted cycles, from work and the throughput of the target.

use super::occupancy::stats;
use super::{ModelError, ModelLaunch, ModelStep, Occupancy, Pipelining, StepWork};
use serde::Serialize;
use std::fmt;
use tilewright_plan::cost::{CACHE_BANDWIDTH_RATIO, CACHE_REQUEST_COST_IN_BYTES, REACHED_BANDWIDTH_SHARE};
use tilewright_plan::movement::CACHE_LINE_BYTES;
use tilewright_target::{DeviceThroughput, TargetDescription};

/// The share of the time of all other pipes and latencies that is added to the time of the busiest pipe, which hides
/// the rest. The value is assumed; it makes the program with less other work faster if the busiest pipes are equal.
const NOT_HIDDEN: f64 = 1.0 / 16.0;

/// Mean time of an access of global memory in queues, in latencies of an access without queues. The value is assumed,
/// as is the exponential distribution of these times.
const QUEUEING_SHARE: f64 = 1.0;

/// The share that exclusive sections of warp groups do hide of the work that they could hide behind each other's MMAs.
/// It is fitted to FlashAttention-3 (arXiv:2407.08608), which gains 9 to 12 percent by exclusive sections: 620 to 640
/// in place of 570 TFLOPS, forward with heads of 128.
const PING_PONG_HIDDEN_SHARE: f64 = 0.25;

/// Cycles for which the work of a block occupies the pipes of a compute unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PipeCycles {
    /// Cycles that the compute unit takes to issue the block's instructions.
    pub issue: f64,
    /// Cycles for which the block's wavefronts and shuffles occupy the shared-memory pipe.
    pub shared: f64,
    /// Cycles for which the block's MMAs occupy the matrix units.
    pub matrix: f64,
    /// Cycles for which the block's transfers occupy the compute unit's share of the global-memory bandwidth.
    pub global: f64,
}

impl PipeCycles {
    fn plus(self, other: Self, times: f64) -> Self {
        Self {
            issue: self.issue + times * other.issue,
            shared: self.shared + times * other.shared,
            matrix: self.matrix + times * other.matrix,
            global: self.global + times * other.global,
        }
    }
}

/// Cycles for which a launch keeps each resource of a compute unit busy. The greatest is hidden by nothing; of each
/// other, a sixteenth adds to the time of the launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LaunchResourceCycles {
    /// Cycles that the compute unit takes to issue the instructions of all its blocks.
    pub issue: f64,
    /// Cycles for which its blocks occupy the shared-memory pipe.
    pub shared: f64,
    /// Cycles for which its blocks occupy the matrix units.
    pub matrix: f64,
    /// Cycles of its share of the transfers to and from global memory.
    pub global: f64,
    /// Cycles of latency of its blocks, divided by the number of resident blocks.
    pub latency: f64,
}

impl LaunchResourceCycles {
    fn by_name(&self) -> [(&'static str, f64); 5] {
        [
            ("issue", self.issue),
            ("shared memory", self.shared),
            ("matrix units", self.matrix),
            ("global memory", self.global),
            ("latency", self.latency),
        ]
    }

    /// Returns the bottleneck: the name of the resource that is busy longest.
    fn bottleneck(&self) -> &'static str {
        let first = ("issue", 0.0);
        self.by_name().into_iter().fold(first, |most, time| if time.1 > most.1 { time } else { most }).0
    }

    /// Returns the cycles that each resource contributes to the time of the launch; their sum is that time.
    #[must_use]
    pub fn cycles_by_resource(&self) -> [(&'static str, f64); 5] {
        let bottleneck = self.bottleneck();
        self.by_name().map(|(name, cycles)| (name, if name == bottleneck { cycles } else { NOT_HIDDEN * cycles }))
    }
}

impl fmt::Display for LaunchResourceCycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.by_name().map(|(name, cycles)| format!("{name} {cycles:.0}"));
        f.write_str(&each.join(", "))
    }
}

/// The predicted time of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct TimePrediction {
    /// Cycles until the compute unit that is busy longest has finished.
    pub cycles: f64,
    /// Cycles for which the launch keeps each resource busy.
    pub launch: LaunchResourceCycles,
    /// The number of blocks that are resident together on a compute unit, and the limiting resource.
    pub resident: Occupancy,
    /// Cycles for which one block occupies each pipe.
    pub pipes: PipeCycles,
    /// Latency of one block in cycles.
    pub latency: f64,
    /// The bottleneck: the name of a pipe, or `latency`.
    pub bound_by: &'static str,
}

/// Predicts the time of a launch on a target.
///
/// # Errors
/// [`ModelError`] if the target has no throughput table, or a block does not fit a compute unit.
pub fn predict_time(block: &ModelLaunch, target: &TargetDescription) -> Result<TimePrediction, ModelError> {
    let stats = stats(target)?;
    let (warps, lanes) = (block.warps.max(1) as f64, block.lanes.max(1) as f64);
    let model = ThroughputModel { stats, target, warps, lanes, is_cached: block.distinct_bytes.is_some() };
    let resident = Occupancy::compute(block, target)?;
    let spent = model.steps(&block.steps);
    // Asynchronous work still in flight at the end is waited for.
    let in_flight = spent.in_flight.all() + delay_cycles(spent.in_flight.latency, 0.0);
    let latency = spent.latency + in_flight + spent.mma_cycles;
    let units = u64::from(stats.compute_units).max(1);
    let blocks_per_compute_unit = block.blocks.div_ceil(units);
    let rounds = blocks_per_compute_unit.div_ceil(resident.blocks.max(1));
    let of_unit = |cycles: f64| blocks_per_compute_unit as f64 * cycles;
    // All compute units share the last-level cache and device memory, so blocks of an incomplete last round get more of
    // them.
    let transfers = block.blocks as f64 / units as f64 * spent.pipes.global;
    let launch = LaunchResourceCycles {
        issue: of_unit(spent.pipes.issue),
        shared: of_unit(spent.pipes.shared),
        matrix: of_unit(spent.pipes.matrix),
        global: transfers.max(memory_cycles(block, stats)),
        latency: rounds as f64 * latency,
    };
    let cycles = launch.cycles_by_resource().iter().map(|(_, cycles)| cycles).sum();
    Ok(TimePrediction { cycles, launch, resident, pipes: spent.pipes, latency, bound_by: launch.bottleneck() })
}

/// Returns the cycles that device memory takes to transfer the distinct bytes of a launch to all compute units; zero if
/// these bytes are unknown, because the pipe of each compute unit then counts all accessed bytes.
fn memory_cycles(block: &ModelLaunch, stats: &DeviceThroughput) -> f64 {
    let accessed = block.global_bytes() * block.blocks as f64;
    let distinct = block.distinct_bytes.map_or(0.0, |distinct| accessed.min(distinct as f64));
    distinct / (stats.bytes_per_cycle() * REACHED_BANDWIDTH_SHARE) / f64::from(stats.compute_units.max(1))
}

/// The time that a block has spent on the steps before some point of the program.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    pipes: PipeCycles,
    /// The sum of latencies in sequence, in cycles.
    latency: f64,
    /// The asynchronous copies that are in flight.
    in_flight: InFlight,
    /// Cycles of MMAs that overlap with the next iteration.
    mma_cycles: f64,
    /// The parts of `latency` in the exclusive sections of warp groups.
    exclusive: ExclusiveCycles,
}

/// Cycles of the work that warp groups do in exclusive sections.
#[derive(Debug, Clone, Copy, Default)]
struct ExclusiveCycles {
    /// Cycles of the MMAs of all warp groups.
    mma: f64,
    /// Cycles of the other work in the exclusive section of one warp group.
    other: f64,
}

impl ExclusiveCycles {
    /// Returns the cycles of an iteration of `latency` cycles that exclusive sections of `groups` warp groups hide:
    /// work outside of the exclusive sections while other groups multiply, less the work in other groups' exclusive
    /// sections for which a group waits.
    fn hidden(self, latency: f64, groups: u64) -> f64 {
        let beside = latency - self.mma - self.other * groups as f64;
        if groups > 1 { PING_PONG_HIDDEN_SHARE * self.mma.min(beside).max(0.0) } else { 0.0 }
    }
}

/// Asynchronous copies that are in flight while a block does other work.
#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    /// Cycles until the first copy completes; copies in flight together have one common latency.
    latency: f64,
    /// Cycles for which the copies transfer data.
    transfer: f64,
}

impl InFlight {
    fn all(self) -> f64 {
        self.latency + self.transfer
    }
}

struct ThroughputModel<'a> {
    stats: &'a DeviceThroughput,
    target: &'a TargetDescription,
    warps: f64,
    lanes: f64,
    /// Whether the last-level cache serves all accesses, because the distinct bytes of the launch are known and device
    /// memory transfers these.
    is_cached: bool,
}

impl ThroughputModel<'_> {
    fn steps(&self, steps: &[ModelStep]) -> Spent {
        steps.iter().fold(Spent::default(), |all, step| {
            let step_cost = match step {
                ModelStep::Work(work) => self.work(work),
                ModelStep::Interleaved { parts, steps } => self.interleaved(parts, *steps),
                ModelStep::Loop { iteration_count, pipelining, body } => {
                    self.loop_time(*iteration_count, *pipelining, body)
                }
            };
            Spent {
                pipes: all.pipes.plus(step_cost.pipes, 1.0),
                latency: all.latency + step_cost.latency,
                in_flight: InFlight {
                    latency: all.in_flight.latency.max(step_cost.in_flight.latency),
                    transfer: all.in_flight.transfer + step_cost.in_flight.transfer,
                },
                mma_cycles: all.mma_cycles + step_cost.mma_cycles,
                exclusive: ExclusiveCycles {
                    mma: all.exclusive.mma + step_cost.exclusive.mma,
                    other: all.exclusive.other + step_cost.exclusive.other,
                },
            }
        })
    }

    /// Returns the time of a loop. In a pipelined loop the first iteration waits for its copies, unless steps before
    /// the loop have waited for them. Each further iteration takes as long as its own work, its transfers, its
    /// overlapping MMAs, or the latency of copies divided by the number of iterations whose copies are in flight,
    /// whichever is longest, and the time for which it waits for late copies. It takes no longer than an iteration that
    /// waits for its own copies while the MMAs execute.
    fn loop_time(&self, iteration_count: u64, pipelining: Pipelining, steps: &[ModelStep]) -> Spent {
        let body = self.steps(steps);
        if iteration_count == 0 {
            return Spent::default();
        }
        if pipelining.tile_groups > 1 {
            return self.alternating_time(iteration_count, pipelining.tile_groups, steps, body);
        }
        let body = Spent { latency: body.latency - body.exclusive.hidden(body.latency, pipelining.groups), ..body };
        let latency = body.in_flight.latency;
        let copied = body.latency + body.in_flight.all() + delay_cycles(latency, 0.0);
        let next = match pipelining.stages {
            0 | 1 => copied + body.mma_cycles,
            stages => {
                let in_flight = (stages - 1) as f64;
                let overlapped = body.pipes.global.max(body.mma_cycles);
                let step_cost = body.latency.max(overlapped).max(latency / in_flight);
                let with_delay = step_cost + delay_cycles(latency, in_flight * step_cost) / in_flight;
                with_delay.min(copied.max(overlapped))
            }
        };
        let first = if pipelining.is_filled { next } else { copied + body.mma_cycles };
        let latency = first + (iteration_count - 1) as f64 * next;
        Spent { pipes: PipeCycles::default().plus(body.pipes, iteration_count as f64), latency, ..Spent::default() }
    }

    /// Returns the time of a loop whose iterations `groups` warp groups alternate between. A group takes the time of an
    /// iteration for each of its own, or waits until the inner loops of all groups have run, one after the other,
    /// whichever is longer. The last group begins after the inner loops of the others.
    fn alternating_time(&self, iteration_count: u64, groups: u64, steps: &[ModelStep], body: Spent) -> Spent {
        let inner = steps.iter().filter(|step| matches!(step, ModelStep::Loop { .. }));
        let main: f64 = inner.map(|step| self.steps(std::slice::from_ref(step)).latency).sum();
        let alone = body.latency + body.in_flight.all() + delay_cycles(body.in_flight.latency, 0.0) + body.mma_cycles;
        let own = iteration_count.div_ceil(groups);
        let next = alone.max(groups as f64 * main);
        let behind = (iteration_count - 1) % groups;
        let latency = alone + (own - 1) as f64 * next + behind as f64 * main;
        Spent { pipes: PipeCycles::default().plus(body.pipes, iteration_count as f64), latency, ..Spent::default() }
    }

    /// Returns the time of parts whose `steps` steps are interleaved: each part takes the pipes for all its work, and
    /// only the first step of a part is not hidden by the part that takes longest.
    fn interleaved(&self, parts: &[StepWork], steps: u64) -> Spent {
        let each: Vec<ModelStep> = parts.iter().map(|work| ModelStep::Work(*work)).collect();
        let longest = parts.iter().map(|work| self.work(work).latency).fold(0.0, f64::max);
        let all = self.steps(&each);
        Spent { latency: longest + (all.latency - longest) / steps.max(1) as f64, ..all }
    }

    fn work(&self, work: &StepWork) -> Spent {
        let (costs, stats) = (&self.target.costs, self.stats);
        let issued = work.global_accesses
            + work.shared_accesses
            + work.shuffles
            + work.matrix_instructions
            + work.arithmetic
            + 2 * work.spilled_registers;
        let barriers = (work.barriers + work.exclusive_entries) as f64;
        let shuffle = work.shuffles as f64 * costs.shuffle.cycles;
        let stored = work.wavefronts_stored as f64 * costs.shared_store_wavefront.cycles;
        let loaded = work.wavefronts_loaded as f64 * costs.shared_load_wavefront.cycles;
        let pipe_count = self.target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
        let issuing = if work.produced { 1.0 } else { self.warps };
        let issues_per_cycle = stats.issues_per_cycle.max(1.0);
        // Local memory is cached in the memory of the shared-memory pipe, one wavefront for each register of a warp.
        let spilled =
            work.spilled_registers as f64 * (costs.shared_store_wavefront.cycles + costs.shared_load_wavefront.cycles);
        let matrix_cycles = work.matrix_instructions as f64 * work.matrix_cycles.max(0.0);
        let pipes = PipeCycles {
            issue: issued as f64 * issuing / issues_per_cycle + barriers * costs.block_barrier.cycles,
            shared: (stored + loaded + shuffle + spilled) * self.warps,
            matrix: matrix_cycles * self.warps / f64::from(pipe_count),
            global: self.transfer_cycles(work).max(work.address_cycles as f64),
        };
        let waited = |count: u64, latency: f64| if count > 0 { latency } else { 0.0 };
        let latency = waited(work.global_accesses.max(work.global_bytes.min(1)), stats.memory_latency);
        // Consumer warps signal through shared memory that a buffer is free.
        let signal_latency = costs.shared_store_wavefront.latency + costs.shared_load_wavefront.latency;
        let latency = latency + if work.produced { signal_latency } else { 0.0 };
        let fetched = InFlight { latency, transfer: pipes.global };
        // A warp issues one instruction in a cycle, and uses one matrix pipe.
        let share = |pipes: f64| (self.warps / pipes).max(1.0);
        let issue = issued as f64 * share(issues_per_cycle) + barriers * costs.block_barrier.cycles;
        let matrix = matrix_cycles * share(f64::from(pipe_count));
        let step_cost = waited(work.wavefronts_stored + work.spilled_registers, costs.shared_store_wavefront.latency)
            + waited(work.wavefronts_loaded + work.spilled_registers, costs.shared_load_wavefront.latency)
            + waited(work.shuffles, costs.shuffle.latency)
            + barriers * costs.block_barrier.latency
            + issue.max(pipes.shared).max(if work.pending { 0.0 } else { matrix });
        let step_cost = if work.produced { 0.0 } else { step_cost };
        let mma_cycles = if work.pending { matrix } else { 0.0 };
        let multiplied = if work.pending { 0.0 } else { matrix.min(step_cost) };
        let exclusive = match work.is_exclusive {
            true => ExclusiveCycles { mma: multiplied, other: step_cost - multiplied },
            false => ExclusiveCycles::default(),
        };
        match work.asynchronous {
            true => Spent { pipes, latency: step_cost, in_flight: fetched, mma_cycles, exclusive },
            false => {
                let latency = step_cost + fetched.all() + delay_cycles(fetched.latency, 0.0);
                Spent { pipes, latency, mma_cycles, exclusive, ..Spent::default() }
            }
        }
    }

    /// Returns the cycles that a compute unit takes to transfer the bytes of a block, by its share of the last-level
    /// cache and, unless that serves all accesses, of device memory. The cache spends time on each request, so that an
    /// access of less than a line takes longer than its bytes. Spilled registers are stored and loaded.
    fn transfer_cycles(&self, work: &StepWork) -> f64 {
        let bytes = work.global_bytes as f64 + work.spilled_registers as f64 * 8.0 * self.lanes * self.warps;
        let requests = CACHE_REQUEST_COST_IN_BYTES * work.global_lines as f64;
        let lines = (bytes + requests) / (1.0 + CACHE_REQUEST_COST_IN_BYTES / CACHE_LINE_BYTES as f64);
        let by_memory = if self.is_cached { 0.0 } else { bytes / REACHED_BANDWIDTH_SHARE };
        (lines / CACHE_BANDWIDTH_RATIO).max(by_memory) / self.stats.bytes_per_cycle()
    }
}

/// Returns the mean number of cycles for which an iteration waits for a copy that was issued `ahead` cycles before. The
/// copy takes `latency` cycles and a time in queues.
fn delay_cycles(latency: f64, ahead: f64) -> f64 {
    let queueing = QUEUEING_SHARE * latency;
    if queueing > 0.0 { queueing * ((latency - ahead).min(0.0) / queueing).exp() } else { 0.0 }
}
