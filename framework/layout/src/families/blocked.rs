//! `blocked`: contiguous registers, then lanes, then warps (seed 000, Proposition 4.6; seed 002).

use crate::{Dim, FamilyError, FamilySpec, LinearLayout};

use super::cluster::{layout_of, spread};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    let rank = shape.len();
    let per_lane = read.powers(&["size_per_thread"], rank)?;
    let per_warp = read.powers(&["threads_per_warp"], rank)?;
    let per_block = read.powers(&["warps_per_cta"], rank)?;
    let order = read.order(&["order"], rank)?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.finish()?;
    let parts = spread(Dim::REGISTER, &per_lane, &order, None)
        .chain(spread(Dim::LANE, &per_warp, &order, None))
        .chain(spread(Dim::WARP, &per_block, &order, None));
    let mut layout = layout_of(spec, parts, &order, &cluster, shape)?;
    layout.drop_zero_bases(Dim::REGISTER);
    Ok(layout)
}
