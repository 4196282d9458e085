//! The work of the blocks of a launch, as input of the performance model.

use tilewright_kernel::Counts;
use tilewright_plan::cost::count_shuffles_by_pipe;
use tilewright_target::TargetDescription;

/// The work of the warps of a block in one step. Counts are those of one warp, the maximum if warps differ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepWork {
    /// Bytes of global memory that the whole block accesses, in whole sectors.
    pub global_bytes: u64,
    /// Lines of 128 bytes that the accesses of the whole block request from the last-level cache, each counted once for
    /// each access instruction.
    pub global_lines: u64,
    /// Number of global-memory access instructions of a warp.
    pub global_accesses: u64,
    /// Cycles of the address unit for the global-memory accesses of the whole block.
    pub address_cycles: u64,
    /// Whether the accesses of global memory are asynchronous: in flight until a later stage of the loop.
    pub asynchronous: bool,
    /// Whether a producer warp issues the accesses of global memory; consumer warps then signal when a buffer is free.
    pub produced: bool,
    /// Number of wavefronts that a warp stores to shared memory.
    pub wavefronts_stored: u64,
    /// Number of wavefronts that a warp loads from shared memory.
    pub wavefronts_loaded: u64,
    /// Number of shared-memory access instructions of a warp.
    pub shared_accesses: u64,
    /// Number of shuffles between lanes that a warp executes on the shared-memory pipe.
    pub shuffles: u64,
    /// Number of matrix instructions (MMAs) of a warp.
    pub matrix_instructions: u64,
    /// Cycles for which one matrix instruction occupies its pipe.
    pub matrix_cycles: f64,
    /// Whether the MMAs are asynchronous: they may be in flight until the next iteration.
    pub pending: bool,
    /// Whether a warp group does this work in its exclusive section, while the other warp groups do none of it.
    pub is_exclusive: bool,
    /// Number of exclusive sections for which the warp waits at a named barrier.
    pub exclusive_entries: u64,
    /// Number of instructions of a warp that are not counted by the other fields, such as arithmetic.
    pub arithmetic: u64,
    /// Number of block barriers that a warp passes.
    pub barriers: u64,
    /// Number of 32-bit registers of a lane that are spilled: stored to local memory once, and loaded once.
    pub spilled_registers: u64,
}

impl StepWork {
    /// Converts operation counts of a plan to work on a target.
    #[must_use]
    pub fn from_counts(counts: &Counts, target: &TargetDescription) -> Self {
        let (shuffles, others) = count_shuffles_by_pipe(counts, target);
        Self {
            wavefronts_stored: counts.wavefronts_stored,
            wavefronts_loaded: counts.wavefronts_loaded,
            shared_accesses: counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads,
            shuffles,
            arithmetic: counts.permutes + counts.selects + others.ceil() as u64,
            barriers: counts.barriers,
            ..Self::default()
        }
    }
}

/// One step of a program in the performance model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStep {
    /// Work that is done once.
    Work(StepWork),
    /// Loads and conversions of the operands of a dot, and the dot. Code generators interleave their K steps: a step of
    /// the operands is loaded while the step before it is multiplied.
    Interleaved {
        /// The work of all steps of each part.
        parts: Vec<StepWork>,
        /// The number of K steps.
        steps: u64,
    },
    /// A loop over further steps.
    Loop {
        /// The trip count of the loop.
        iteration_count: u64,
        /// How its copies overlap with its iterations.
        pipelining: Pipelining,
        /// The steps of one iteration.
        body: Vec<ModelStep>,
    },
}

/// How the asynchronous copies of a loop overlap with its iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipelining {
    /// Number of pipeline stages, one without prefetching: the copies of `stages - 1` iterations are in flight
    /// together.
    pub stages: u64,
    /// Whether steps before the loop have waited for the copies of the first iteration.
    pub is_filled: bool,
    /// Number of warp groups that alternate with the work marked [`StepWork::is_exclusive`]; one if there are none.
    pub groups: u64,
    /// Number of warp groups that alternate between the iterations: one runs its inner loops while the others do the rest
    /// of their iterations. One if a single group executes all iterations.
    pub tile_groups: u64,
}

/// The blocks of a launch, which are all alike, as input of the performance model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelLaunch {
    /// Number of blocks of the launch.
    pub blocks: u64,
    /// Number of warps of a block that do the work.
    pub warps: u64,
    /// Number of producer warps of a block, which issue the work marked [`StepWork::produced`].
    pub producers: u64,
    /// Number of lanes of a warp.
    pub lanes: u64,
    /// Number of 32-bit registers of a lane.
    pub registers: u64,
    /// Number of bytes of shared memory that a block takes.
    pub shared_bytes: u64,
    /// Bytes of global memory that the launch accesses, each counted once however often it is accessed. Device memory
    /// is assumed to transfer these bytes only, and the last-level cache to serve all accesses. `None` if unknown;
    /// device memory is then assumed to serve all accesses.
    pub distinct_bytes: Option<u64>,
    /// The steps that each block executes.
    pub steps: Vec<ModelStep>,
}

impl ModelLaunch {
    /// Returns the bytes of global memory that the block accesses.
    pub(in crate::synthesis) fn global_bytes(&self) -> f64 {
        sum_global_bytes(&self.steps)
    }
}

fn sum_global_bytes(steps: &[ModelStep]) -> f64 {
    let of_step = |step: &ModelStep| match step {
        ModelStep::Work(work) => work.global_bytes as f64,
        ModelStep::Interleaved { parts, .. } => parts.iter().map(|work| work.global_bytes as f64).sum(),
        ModelStep::Loop { iteration_count, body, .. } => *iteration_count as f64 * sum_global_bytes(body),
    };
    steps.iter().map(of_step).sum()
}
