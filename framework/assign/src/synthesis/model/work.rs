//! What blocks do.

use tilewright_kernel::Counts;

/// What the warps of a block do at one place: counts of one warp, the most where they differ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Bytes of global memory that the whole block touches, whole units of transfer counted.
    pub global_bytes: u64,
    /// Accesses of global memory.
    pub global_accesses: u64,
    /// Whether accesses of global memory run on while the warp does other things, until the loop's next stages.
    pub asynchronous: bool,
    /// Whether a warp that does nothing else issues these accesses, when the others have told it that there is room.
    pub produced: bool,
    /// Wavefronts stored to shared memory.
    pub wavefronts_stored: u64,
    /// Wavefronts loaded from shared memory.
    pub wavefronts_loaded: u64,
    /// Accesses of shared memory.
    pub shared_accesses: u64,
    /// Exchanges between lanes.
    pub exchanges: u64,
    /// Matrix instructions.
    pub matrix_instructions: u64,
    /// Cycles for which one of them occupies its pipe.
    pub matrix_cycles: f64,
    /// Whether these go on while the warp does other things, until the loop's next turn.
    pub pending: bool,
    /// Other instructions.
    pub arithmetic: u64,
    /// Barriers of the block.
    pub barriers: u64,
}

impl Work {
    /// What counts of a plan, or of an execution, are as work; matrix instructions take `matrix_cycles` each.
    #[must_use]
    pub fn of_counts(counts: &Counts, matrix_instructions: u64, matrix_cycles: f64) -> Self {
        Self {
            wavefronts_stored: counts.wavefronts_stored,
            wavefronts_loaded: counts.wavefronts_loaded,
            shared_accesses: counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads,
            exchanges: counts.exchanges,
            arithmetic: counts.permutes + counts.selects,
            barriers: counts.barriers,
            matrix_instructions,
            matrix_cycles,
            ..Self::default()
        }
    }
}

/// A step of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStep {
    /// Work.
    Work(Work),
    /// Steps again and again.
    Loop {
        /// How often.
        trips: u64,
        /// How many iterations' asynchronous copies there are at a time; one for none ahead.
        stages: u64,
        /// What is done each time.
        body: Vec<ModelStep>,
    },
}

/// The blocks of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// How many there are.
    pub blocks: u64,
    /// Warps of a block that do the work.
    pub warps: u64,
    /// Warps of a block beside these, which issue what is [`Work::produced`].
    pub producers: u64,
    /// Lanes of a warp.
    pub lanes: u64,
    /// 32-bit registers of a lane.
    pub registers: u64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// What each does.
    pub steps: Vec<ModelStep>,
}
