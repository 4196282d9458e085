//! Finds kernels that spill whatever `ptxas` does. If not all values of a loop fit in registers, `ptxas` may reduce the
//! registers for more resident blocks and spill most values: a kernel of two warps whose accumulators fill 256 registers
//! gets 32 registers and 16,772 bytes of spill stores; if it states one resident block, 255 registers and 5,160 bytes.

use tilewright_kernel::{Kernel, Op};
use tilewright_target::TargetDescription;

use super::live_words::most_live_words;

/// Returns 1 for a kernel with a loop whose live values exceed the registers of a lane; `None` for other kernels.
pub(super) fn resident_blocks(kernel: &Kernel, target: &TargetDescription) -> Option<u32> {
    let spills = kernel.statements().iter().any(|statement| match &statement.op {
        Op::For { body, .. } | Op::While { body, .. } => most_live_words(body) > target.limits.registers_per_lane,
        _ => false,
    });
    spills.then_some(1)
}
