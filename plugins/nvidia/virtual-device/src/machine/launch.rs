//! The parameters and the report of a launch.

use std::collections::BTreeMap;

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// The parameters of a launch: target, grid, block shape and kernel arguments.
pub(crate) struct Launch<'a> {
    pub(crate) target: &'a TargetDescription,
    /// Number of blocks along each of the three axes of the grid.
    pub(crate) grid: [u32; 3],
    /// Number of threads of a block along each of the three axes.
    pub(crate) threads: [u32; 3],
    /// Number of bytes of dynamic shared memory, after the kernel's static shared memory.
    pub(crate) dynamic_bytes: u64,
    /// The encoded arguments: the bytes of the kernel's parameter memory.
    pub(crate) parameters: &'a [u8],
    /// Whether several lanes may store to the same address of shared memory by one instruction without synchronization.
    pub(crate) replicated_stores: bool,
    /// Maximum number of instructions that all warps together may execute; a launch that needs more faults.
    pub(crate) most_steps: u64,
}

/// Counts of one launch, defined as those of the emulator of the kernel IR, so that both can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchReport {
    /// The largest count of any warp, separately for each kind of count.
    pub counts: Counts,
    /// Counts summed over all warps of all blocks.
    pub totals: Counts,
    /// Number of times that each opcode was issued, summed over all warps. An instruction whose guard is false in all
    /// lanes counts; an instruction that a branch skips does not.
    pub issued: BTreeMap<String, u64>,
    /// The same number by the line of the PTX text that has the instruction.
    pub issued_by_line: BTreeMap<u32, u64>,
    /// Number of 32-byte sectors of global memory that loads touched, summed over all accesses.
    pub transactions_loaded: u64,
    /// Number of 32-byte sectors of global memory that stores touched, summed over all accesses.
    pub transactions_stored: u64,
    /// Number of sectors that loads transferred from the second-level cache: those of `transactions_loaded` that the
    /// first-level cache did not hold, if the target's file describes it.
    pub l2_sectors_loaded: u64,
    /// Number of sectors that stores and atomic operations transferred to the second-level cache.
    pub l2_sectors_stored: u64,
    /// Number of executed instructions, summed over all warps.
    pub instructions: u64,
    /// Output of `vprintf`: one text for each call by a lane, in order of execution.
    pub printed: Vec<String>,
}
