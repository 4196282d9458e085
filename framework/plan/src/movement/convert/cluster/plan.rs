//! Plans conversions between the blocks of a cluster.

use super::across_blocks::ClusterPlan;
use super::distance::Distances;
use crate::movement::conversion::ConversionSide;
use crate::movement::convert::plan::{ConversionKind, ConversionPlan, Steps};
use crate::movement::convert::shared::within;
use crate::movement::tile::Reach;
use crate::movement::{ConversionProblem, PlanContext, bound};
use tilewright_layout::f2::Subspace;
use tilewright_target::TargetDescription;

/// Whether some block lacks an element that its destination positions need.
pub(crate) fn crosses_blocks(conversion: &ConversionProblem) -> bool {
    conversion.origin.is_none()
}

pub(crate) fn plan(conversion: &ConversionProblem, context: &PlanContext<'_>) -> Result<ConversionPlan, String> {
    let target = context.target;
    let block_bits = conversion.src.blocks.len() as u32;
    has_clusters(target, block_bits)?;
    let distances = Distances::of(conversion).ok_or("a block needs elements that no block has")?;
    let leaves = !distances.are_zero();
    let groups = distances.groups();
    let local = distances.within_block(conversion, &groups);
    let bound = match leaves {
        true => bound::of_cluster(conversion, context),
        false => bound::of_shared(conversion, context),
    };
    let distances = distances.of_threads();
    let lanes = distances[..conversion.lane_bits as usize].iter().copied().collect();
    let reach = Reach { leaves, lanes, times: groups.bits() };
    let scratch = within(&local, reach, &bound, context)?;
    let cluster_conversion = ClusterPlan {
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
    let stats = cluster_conversion.stats(bound, conversion.warps(), target);
    let path = if leaves { ConversionKind::Cluster } else { ConversionKind::Shared };
    Ok(ConversionPlan { path, stats, steps: Steps::Cluster(Box::new(cluster_conversion)) })
}

/// Whether several blocks hold the same elements, entirely or in part.
fn holds_copies(src: &ConversionSide) -> bool {
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
