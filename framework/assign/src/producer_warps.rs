//! Producer warps: an extra warp that issues the bulk tensor copies of a loop, and that may hand registers over to the
//! consumer warps. Loops of explicit-memory programs and of other programs share these decisions.

use crate::LaunchConfig;
use tilewright_target::Optimization;
use tilewright_tile::{Attribute, FunctionBody, Op};

/// The attribute by which a loop, or the innermost loop around it with one, requests or forbids a producer warp.
pub(crate) const WARP_SPECIALIZE: &str = "tt.warp_specialize";

/// Whether the first of these loops with Triton's `tt.warp_specialize` requests (`true`) or forbids a producer warp;
/// `None` without this attribute.
pub(crate) fn requested_producer(body: &FunctionBody, loops: impl IntoIterator<Item = Op>) -> Option<bool> {
    loops.into_iter().find_map(|of| match body.op(of).attributes.get(WARP_SPECIALIZE)? {
        Attribute::Unit => Some(true),
        Attribute::Bool(has_producer) => Some(*has_producer),
        _ => None,
    })
}

/// Whether a block may have a producer warp besides `groups` groups of consumers with the warps of the launch. Each
/// partition has a named barrier, and there is one for all.
pub(crate) fn has_room_for_producer(groups: u32, config: &LaunchConfig<'_>) -> bool {
    let limits = &config.context.target.limits;
    let lanes = (groups * config.warps + 1).saturating_mul(config.lanes);
    limits.named_barriers >= groups + 2 && lanes <= limits.lanes_per_block
}

/// Returns the registers of a lane of the consumer warps and of the producer warp if the producer should hand registers
/// over: if `needed` registers of a consumer's lane then permit more resident blocks, or if a lane of the only resident
/// block has fewer otherwise. The consumers, `groups` groups with the warps of the launch, get all registers that
/// remain for this number of blocks.
pub(crate) fn reallocated_registers(needed: u64, groups: u32, config: &LaunchConfig<'_>) -> Option<[u32; 2]> {
    let (context, lanes, consumers) = (&config.context, config.lanes, groups * config.warps);
    let target = context.target;
    let change = target.limits.register_reallocation;
    let change = change.filter(|_| context.enables(Optimization::RegisterReallocation))?;
    let all = (consumers + 1).next_multiple_of((change.lanes / lanes).max(1));
    if !(config.warps * lanes).is_multiple_of(change.lanes) || lanes * all > target.limits.lanes_per_block {
        return None;
    }
    let (most, unit) = (target.limits.registers_per_lane, target.throughput.as_ref()?);
    let down = |count: u32| count / change.step * change.step;
    // The registers of all lanes at the launch, for blocks of this number of warps.
    let equal = |blocks: u32, warps: u32| {
        down((unit.registers_per_lane((blocks * warps).into(), lanes.into()) as u32).min(most))
    };
    let before = |blocks: u32| equal(blocks, consumers + 1);
    let reallocated = |blocks: u32| {
        let of_producers = change.least * (all - consumers);
        let left = (equal(blocks, all) * all).saturating_sub(of_producers) / consumers;
        down(left.min(change.most).min(most))
    };
    let most_blocks = |registers: &dyn Fn(u32) -> u32| {
        (1..).take_while(|&blocks| u64::from(registers(blocks)) >= needed.max(1)).last().unwrap_or(1)
    };
    let blocks = most_blocks(&reallocated);
    let own = reallocated(blocks);
    let has_more = blocks == 1 && needed > u64::from(before(1)) && own > before(1);
    (blocks > most_blocks(&before) || has_more).then_some([own, change.least])
}
