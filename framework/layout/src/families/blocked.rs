//! `blocked`: contiguous registers, then lanes, then warps (Linear Layouts paper, Proposition 4.6; Triton's
//! `BlockedEncodingAttr`).

use crate::{Dim, FamilyError, FamilySpec, LinearLayout};

use super::cluster::{identity_modes, tensor_layout_from_block_tile};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let rank = shape.len();
    let per_lane = read.powers_of_two(&["size_per_thread"], rank)?;
    let per_warp = read.powers_of_two(&["threads_per_warp"], rank)?;
    let per_block = read.powers_of_two(&["warps_per_cta"], rank)?;
    let order = read.axis_order(&["order"], rank)?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    let modes = identity_modes(Dim::REGISTER, &per_lane, &order, None)
        .chain(identity_modes(Dim::LANE, &per_warp, &order, None))
        .chain(identity_modes(Dim::WARP, &per_block, &order, None));
    let mut layout = tensor_layout_from_block_tile(spec, modes, &order, &cluster, shape)?;
    layout.drop_zero_bases(Dim::REGISTER);
    Ok(layout)
}
