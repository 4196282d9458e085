//! Finds kernels that spill whatever `ptxas` does. If not all live values fit in registers, `ptxas` may reduce the
//! registers for more resident blocks and spill most values: a kernel of two warps whose accumulators in a loop fill
//! 256 registers gets 32 registers and 16,772 bytes of spill stores; if it states one resident block, 255 registers and
//! 5,160 bytes. A kernel without a loop that keeps three tensors of 256x64 elements over its stores gets 32 registers
//! and 5,084 bytes; with the statement, 255 and 1,156 bytes.

use tilewright_kernel::{Kernel, Op};
use tilewright_target::TargetDescription;

use super::live_words::{most_live_words, most_live_words_at};

/// Returns 1 for a kernel whose live values in a loop, or at a store outside loops, exceed the registers of a lane;
/// `None` for other kernels. Elsewhere outside loops `ptxas` shortens live ranges: it moves loads to their uses, but
/// not over stores.
pub(super) fn resident_blocks(kernel: &Kernel, target: &TargetDescription) -> Option<u32> {
    let limit = target.limits.registers_per_lane;
    let spills_in_loop = |op: &Op| match op {
        Op::For { body, .. } | Op::While { body, .. } => most_live_words(body) > limit,
        _ => false,
    };
    let spills = kernel.statements().iter().any(|statement| spills_in_loop(&statement.op))
        || most_live_words_at(&kernel.body, |op| matches!(op, Op::Store { .. })) > limit;
    spills.then_some(1)
}
