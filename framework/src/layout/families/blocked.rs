//! `blocked`: contiguous registers, then lanes, then warps (seed 000, Proposition 4.6; seed 002).

use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

use super::cluster::{cluster_layout, over_tensor};
use super::tile::{spread, sum_of};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    let rank = shape.len();
    let per_lane = read.powers(&["size_per_thread"], rank)?;
    let per_warp = read.powers(&["threads_per_warp"], rank)?;
    let per_block = read.powers(&["warps_per_cta"], rank)?;
    let order = read.order(&["order"], rank)?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.finish()?;
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
    let parts = spread(Dim::REGISTER, per_lane, order, None)
        .chain(spread(Dim::LANE, per_warp, order, None))
        .chain(spread(Dim::WARP, per_block, order, None));
    Ok(over_tensor(&sum_of(parts)?, cluster, shape)?.remove_zero_bases(Dim::REGISTER))
}
