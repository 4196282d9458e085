//! Conversions in which blocks of a cluster need what others hold: every block stores what it has to its
//! own shared memory and loads what it needs from the nearest block that has it.
//!
//! Stores never leave a block, loads may: so what a block holds is one question within a block's memory
//! (`shared` answers it), and which block a load goes to is linear in the register, lane, warp and
//! block that ask. A barrier of the cluster lies between stores and loads, and one after the loads, for
//! a block may neither end nor store again while others read. Where every block has a copy of what it
//! needs, nothing leaves it, and barriers of the block are enough.

mod distance;
mod emit;

use tilewright_kernel::Counts;
use tilewright_layout::f2::Subspace;
use tilewright_target::TargetDescription;

use super::super::conversion::Side;
use super::super::price::cost;
use super::super::tile::Reach;
use super::super::{Conversion, Means, bound};
use super::plan::{Path, Plan, SharedBits, Steps};
use super::shared::{Scratch, within};
use super::swizzle::Swizzle;
use distance::{Distances, Groups};

/// How data goes through the memories of a cluster.
#[derive(Debug, Clone)]
pub(super) struct Exchanged {
    /// What happens in each block's memory; loads are those of one group of registers.
    scratch: Scratch,
    groups: Groups,
    /// For each lane bit, then warp bit, then bit of the block, how far away the block is that a load
    /// goes to.
    distances: Vec<u64>,
    lane_bits: u32,
    warp_bits: u32,
    block_bits: u32,
    register_bits: u32,
    /// Whether any load leaves its block.
    leaves: bool,
    /// Whether the blocks hold more than the tensor has.
    copies: bool,
}

/// Whether some block needs what it does not hold at the same place of the tensor.
pub(super) fn is_asked(conversion: &Conversion) -> bool {
    conversion.origin.is_none()
}

pub(super) fn plan(conversion: &Conversion, means: &Means<'_>) -> Result<Plan, String> {
    let target = means.target;
    let block_bits = conversion.src.blocks.len() as u32;
    has_clusters(target, block_bits)?;
    let distances = Distances::of(conversion).ok_or("blocks need elements that no block holds")?;
    let leaves = !distances.are_zero();
    let groups = distances.groups();
    let local = distances.within_block(conversion, &groups);
    let bound = match leaves {
        true => bound::of_cluster(conversion, means),
        false => bound::of_shared(conversion, means),
    };
    let distances = distances.of_threads();
    let lanes = distances[..conversion.lane_bits as usize].iter().copied().collect();
    let reach = Reach { leaves, lanes, times: groups.bits() };
    let scratch = within(&local, reach, &bound, means)?;
    let exchanged = Exchanged {
        scratch,
        groups,
        distances: distances.to_vec(),
        lane_bits: conversion.lane_bits,
        warp_bits: conversion.warp_bits,
        block_bits,
        register_bits: conversion.dst.registers.len() as u32,
        leaves,
        copies: holds_copies(&conversion.src),
    };
    Ok(priced(conversion, exchanged, bound, target))
}

/// Whether the blocks hold the same elements as others, wholly or in part.
fn holds_copies(src: &Side) -> bool {
    let in_block = Subspace::span(src.registers.iter().chain(&src.threads).copied());
    let all = src.blocks.iter().fold(in_block.clone(), |mut all, &column| {
        all.insert(column);
        all
    });
    (all.dimension() - in_block.dimension()) < src.blocks.len() as u32
}

fn has_clusters(target: &TargetDescription, block_bits: u32) -> Result<(), String> {
    let most = u64::from(target.limits.blocks_per_cluster);
    match 1u64 << block_bits {
        blocks if blocks <= most => Ok(()),
        _ if most == 1 => Err(format!("elements cross blocks, and target {} has no clusters", target.name)),
        blocks => {
            Err(format!("target {} has clusters of at most {most} blocks, the layouts have {blocks}", target.name))
        }
    }
}

fn priced(conversion: &Conversion, exchanged: Exchanged, bound: bound::Bound, target: &TargetDescription) -> Plan {
    let counts = exchanged.counts(target);
    Plan {
        path: if exchanged.leaves { Path::Cluster } else { Path::Shared },
        counts,
        shared_bytes: exchanged.scratch.bytes(),
        cost: cost(&counts, conversion.warps(), exchanged.scratch.rounds(), target),
        bound,
        above_bound: exchanged.why_above(&counts, &bound),
        steps: Steps::Cluster(Box::new(exchanged)),
    }
}

impl Exchanged {
    pub(super) fn swizzle(&self) -> &Swizzle {
        self.scratch.swizzle()
    }

    pub(super) fn shared_bits(&self) -> SharedBits {
        self.scratch.shared_bits()
    }

    /// Blocks that run together.
    pub(super) fn blocks(&self) -> u32 {
        1 << self.block_bits
    }

    fn counts(&self, target: &TargetDescription) -> Counts {
        let within = self.scratch.counts(target);
        if !self.leaves {
            return within;
        }
        Counts { barriers: 0, cluster_barriers: 2 * self.scratch.rounds(), ..within }
    }

    fn why_above(&self, counts: &Counts, bound: &bound::Bound) -> Option<String> {
        let mut why = self.scratch.why_above(counts, bound)?;
        if self.copies && counts.wavefronts_stored > bound.wavefronts_stored {
            why += "; blocks store what others hold too, or nobody needs";
        }
        Some(why)
    }
}
