//! Finds loops with chained dots, as in attention, that let two blocks be resident. `ptxas` assigns more registers than
//! are live, to avoid dependences between instructions; if it thereby exceeds half of the registers, one block is
//! resident in place of two. If the kernel states two resident blocks, `ptxas` keeps within their registers.
//!
//! Attention of 128x128 tiles with 64 columns and eight warps on an H100: 166 us with 128 registers per lane, 205 us with
//! 139 (`docs/results/gpus.md`).

use tilewright_kernel::{Kernel, Op, Queue, Region, Type};
use tilewright_target::TargetDescription;

/// Number of bytes of shared memory that the driver reserves for each resident block.
const RESERVED_BYTES: u64 = 1024;

/// Returns 2 for a kernel of `lanes` lanes and `bytes` bytes of shared memory if two blocks of it fit in shared memory,
/// and a loop waits for several accumulators that together fill more than half, but at most three quarters, of the
/// registers of two resident blocks; `None` for other kernels.
pub(super) fn resident_blocks(kernel: &Kernel, lanes: u32, bytes: u64, target: &TargetDescription) -> Option<u32> {
    const BLOCKS: u32 = 2;
    let is_shared = u64::from(BLOCKS) * (bytes + RESERVED_BYTES) <= u64::from(target.shared.bytes) + RESERVED_BYTES;
    let registers = target.limits.registers_per_block / (BLOCKS * lanes).max(1);
    let is_near = |words: u32| registers < 2 * words && 4 * words <= 3 * registers;
    let statements = kernel.statements();
    let mut bodies = statements.iter().filter_map(|statement| match &statement.op {
        Op::For { body, .. } | Op::While { body, .. } => Some(body),
        _ => None,
    });
    (is_shared && bodies.any(|body| is_near(accumulator_words(body)))).then_some(BLOCKS)
}

/// Returns the number of 32-bit words of a lane in the accumulators that a loop with this body waits for, if there are
/// several; 0 otherwise.
fn accumulator_words(body: &Region) -> u32 {
    let waits = body.statements.iter().filter(|one| matches!(one.op, Op::Wait { queue: Queue::Mma, .. }));
    let accumulators: Vec<Type> = waits.flat_map(|wait| &wait.results).map(|&(_, ty)| ty).collect();
    if accumulators.len() < 2 { 0 } else { accumulators.iter().map(|ty| ty.bits().div_ceil(32)).sum() }
}
