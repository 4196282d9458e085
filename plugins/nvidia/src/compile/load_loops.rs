//! Finds loops that wait for several global loads. `ptxas` orders code for few registers, so that many warps are
//! resident; in such a loop, each load then waits for the previous one. If the kernel states the minimum number of
//! resident blocks, `ptxas` takes the registers that the loads need to be in flight together.
//!
//! Measured on an H200, kernels with the minimum take this share of the time without it: row sums 0.87, column sums
//! 0.88, matrix by vector 0.60, MMAs on operands in registers 0.93 (`docs/results/gpus.md`).

use std::collections::BTreeSet;

use tilewright_kernel::{Kernel, MemorySpace, Op, Region, Statement, Type, Value};
use tilewright_target::TargetDescription;

use super::live_words::{most_live_words, words_of};

/// Least number of 32-bit registers per lane that `ptxas` may use for a kernel with a loop of several global loads. If
/// more words are live at once in the order of the kernel IR, it may use as many registers, or else it would spill.
const REGISTERS: u32 = 128;

/// Max number of 32-bit words of a lane that are live at once in the order of the kernel IR.
const LIVE_WORDS: u32 = 192;

/// Max number of 32-bit words of a lane in the loop-carried values of a loop of several global loads; the rest of
/// [`REGISTERS`] is left to the loads.
const CARRIED_WORDS: u32 = 64;

/// Returns the minimum number of resident blocks for a kernel of `lanes` lanes that has a loop with several global
/// loads; `None` for other kernels, and if such a loop carries more than [`CARRIED_WORDS`] or would spill.
pub(super) fn resident_blocks(kernel: &Kernel, lanes: u32, target: &TargetDescription) -> Option<u32> {
    let statements = kernel.statements();
    let parameters = (0..).map(Value).zip(kernel.parameters.iter().map(|parameter| parameter.ty));
    let arguments = statements.iter().flat_map(|statement| statement.op.regions()).flat_map(|region| &region.arguments);
    let results = statements.iter().flat_map(|statement| &statement.results);
    let values = parameters.chain(arguments.copied()).chain(results.copied());
    let is_pointer = |&(_, ty): &(Value, Type)| ty == Type::Pointer(MemorySpace::Global);
    let pointers: BTreeSet<Value> = values.filter(is_pointer).map(|(value, _)| value).collect();
    let bodies = statements.iter().filter_map(|statement| match &statement.op {
        Op::For { body, .. } | Op::While { body, .. } => Some(body),
        _ => None,
    });
    let bodies: Vec<&Region> = bodies.filter(|body| count_loads(body, &pointers) > 1).collect();
    if bodies.is_empty() {
        return None;
    }
    let live = bodies.iter().map(|body| most_live_words(body)).max().unwrap_or(0);
    let fits = live <= LIVE_WORDS && bodies.iter().all(|body| carried_words(body) <= CARRIED_WORDS);
    let blocks = target.limits.registers_per_block / (live.max(REGISTERS) * lanes).max(1);
    fits.then_some(blocks.max(1))
}

/// Returns the number of 32-bit words of a lane in the loop-carried values of a loop with this body.
fn carried_words(body: &Region) -> u32 {
    body.arguments.iter().map(|&(_, ty)| words_of(ty)).sum()
}

/// Returns the number of loads through one of the global `pointers` in a region and its nested regions.
fn count_loads(body: &Region, pointers: &BTreeSet<Value>) -> usize {
    let mut loads = 0;
    let mut open: Vec<&Statement> = body.statements.iter().collect();
    while let Some(statement) = open.pop() {
        match &statement.op {
            Op::Load { pointer, .. } if pointers.contains(pointer) => loads += 1,
            op => open.extend(op.regions().into_iter().flat_map(|region| &region.statements)),
        }
    }
    loads
}
