//! Counts the arrivals at the mbarrier of one block that a multicast of a cluster causes.
//!
//! All blocks of a cluster execute the same operations. An operation whose arrival goes to several blocks therefore
//! arrives as often at each block's mbarrier as there are blocks that it reaches.

use crate::verify::SHARED_MEMORY;
use crate::verify::layout_parameters::find_layout_bases;
use crate::{Attribute, Attributes, FunctionBody, LayoutAttribute, Op};

/// Returns the number of arrivals at each mbarrier if each block arrives `number` times at the mbarriers of all blocks
/// whose indices differ from its own in bits of `mask` only.
pub(super) fn arrivals(number: i64, mask: i64) -> i64 {
    number.saturating_mul(1 << mask.count_ones().min(32))
}

/// Returns the number of blocks that commit MMAs to one block's mbarrier.
///
/// A multicast commit of MMAs arrives at all blocks that hold a copy of one of the operands in shared memory: the bits
/// of the block index with zero bases in its `CGALayout`. Of two blocks that share an MMA (`two_ctas`, or the module's
/// `ttg.two-ctas`), only the even one commits. Without operands in shared memory, or if the operation has an unset
/// attribute `multicast`, each block commits to itself alone.
pub(super) fn commits(body: &FunctionBody, op: Op, groups: &[String], module: &Attributes) -> i64 {
    let operation = body.op(op);
    let is_set =
        |name: &str| operation.definition.find_attribute(name).map(|_| operation.attributes.get(name).is_some());
    if is_set("multicast") == Some(false) {
        return 1;
    }
    let are_pairs = is_set("two_ctas").unwrap_or(module.get("ttg.two-ctas") == Some(&Attribute::Bool(true)));
    let operands = groups.iter().flat_map(|group| body.operands(op, group));
    let memories = operands.filter_map(|&operand| body.value_type(operand).as_memory());
    let shared = memories.filter(|memory| memory.space.spec().name == SHARED_MEMORY);
    // For each operand, the bits of the block index that lead to another part of it.
    let parts: Vec<u64> = shared.map(|memory| part_bits(&memory.layout)).collect();
    let blocks = module.get("ttg.num-ctas").and_then(Attribute::as_integer).unwrap_or(1).max(1) as u64;
    let commits = |block: &u64| !(are_pairs && block & 1 == 1) && parts.iter().any(|part| block & part == 0);
    (0..blocks).filter(commits).count().max(1) as i64
}

fn part_bits(layout: &LayoutAttribute) -> u64 {
    let blocks = find_layout_bases(layout.spec(), "cga_layout").unwrap_or_default();
    let nonzero = blocks.iter().map(|basis| u64::from(basis.iter().any(|step| *step != 0)));
    nonzero.enumerate().fold(0, |bits, (bit, is_part)| bits | is_part << bit)
}
