//! The parameters and the report of a launch.

use std::collections::BTreeMap;

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// The parameters of a launch: a program, its grid, and its arguments.
pub(crate) struct Launch<'a> {
    pub(crate) target: &'a TargetDescription,
    /// Number of blocks along each of the three axes of the grid.
    pub(crate) grid: [u32; 3],
    /// Number of threads of a block along each of the three axes.
    pub(crate) threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_bytes: u64,
    /// Bytes of the kernel's parameters.
    pub(crate) parameters: &'a [u8],
    /// Whether several lanes may store to an address of shared memory by one instruction without synchronization.
    pub(crate) replicated_stores: bool,
    /// Limit of the number of instructions that the launch executes, summed over all warps; a launch that needs more is
    /// a fault.
    pub(crate) most_steps: u64,
}

/// Counts of a launch, in the same units as those of the kernel IR's emulator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchReport {
    /// Counts of one warp: for each count, the maximum over all warps of all blocks.
    pub counts: Counts,
    /// Counts summed over all warps of all blocks.
    pub totals: Counts,
    /// Number of instructions issued for each opcode of the text, summed over all warps. An instruction whose guard
    /// holds for no lane is issued too; one that a branch skips is not.
    pub issued: BTreeMap<String, u64>,
    /// Number of global-memory sectors that loads touched, summed over all accesses.
    pub transactions_loaded: u64,
    /// Number of global-memory sectors that stores touched, summed over all accesses.
    pub transactions_stored: u64,
    /// Number of executed instructions, summed over all warps.
    pub instructions: u64,
    /// Output of `vprintf`, one text for each call of a lane.
    pub printed: Vec<String>,
}
