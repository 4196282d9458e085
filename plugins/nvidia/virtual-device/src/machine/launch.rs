//! The parameters and the result of a launch.

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// What is run, and where.
pub(crate) struct Launch<'a> {
    pub(crate) target: &'a TargetDescription,
    /// Blocks along the three axes.
    pub(crate) grid: [u32; 3],
    /// Threads of a block along the three axes.
    pub(crate) threads: [u32; 3],
    /// Bytes of shared memory that the launch gives.
    pub(crate) dynamic_bytes: u64,
    /// The bytes of the parameters.
    pub(crate) parameters: &'a [u8],
    /// Instructions of all warps that are executed at most.
    pub(crate) most_steps: u64,
}

/// What a run did, counted as the emulator counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchReport {
    /// Of one warp; where warps differ, the most over all warps of all blocks.
    pub counts: Counts,
    /// Units of global memory that loads touched, access by access.
    pub transactions_loaded: u64,
    /// Those that stores touched.
    pub transactions_stored: u64,
    /// Instructions of all warps.
    pub instructions: u64,
    /// What `vprintf` printed.
    pub printed: Vec<String>,
}
