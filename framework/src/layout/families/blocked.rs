//! `blocked`: contiguous registers, then lanes, then warps (seed 000, Proposition 4.6; seed 002).

use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

use super::cluster::{cluster_layout, identity_nd, over_tensor};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    let per_lane = read.numbers(&["size_per_thread"])?;
    let per_warp = read.numbers(&["threads_per_warp"])?;
    let per_block = read.numbers(&["warps_per_cta"])?;
    let order = read.numbers(&["order"])?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.finish()?;
    let rank = shape.len();
    for (name, list) in [("size_per_thread", &per_lane), ("threads_per_warp", &per_warp), ("warps_per_cta", &per_block)]
    {
        if list.len() != rank {
            return Err(read.wrong(name, &format!("has {} entries for a tensor of {rank} axes", list.len())));
        }
        if let Some(size) = list.iter().find(|size| !size.is_power_of_two()) {
            return Err(read.wrong(name, &format!("{size} is no power of two")));
        }
    }
    let order = permutation(&order, rank)
        .ok_or_else(|| read.wrong("order", &format!("{order:?} is no permutation of the axes 0 to {}", rank - 1)))?;
    let cluster = cluster_layout(spec, &cluster, rank)?;
    build(&per_lane, &per_warp, &per_block, &order, &cluster, shape)
        .map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

fn build(
    per_lane: &[u64],
    per_warp: &[u64],
    per_block: &[u64],
    order: &[usize],
    cluster: &LinearLayout,
    shape: &[u64],
) -> Result<LinearLayout, LayoutError> {
    let registers = identity_nd(Dim::REGISTER, per_lane, order)?;
    let lanes = identity_nd(Dim::LANE, per_warp, order)?;
    let warps = identity_nd(Dim::WARP, per_block, order)?;
    let tile = registers.direct_sum(&lanes)?.direct_sum(&warps)?;
    Ok(over_tensor(&tile, cluster, shape)?.remove_zero_bases(Dim::REGISTER))
}

/// The axes that `order` lists, where it lists each of `rank` once.
pub(super) fn permutation(order: &[u64], rank: usize) -> Option<Vec<usize>> {
    let axes: Vec<usize> = order.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect();
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    (sorted == (0..rank).collect::<Vec<_>>()).then_some(axes)
}
