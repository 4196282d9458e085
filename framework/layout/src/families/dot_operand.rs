//! `dot_operand` of a blocked parent: the operand A or B of a dot computed by FMA instructions. Every lane holds all of
//! K for its rows or columns; lanes and warps along K are replicas. Registers with zero bases are kept, unlike those of
//! `blocked`.

use crate::{Dim, FamilyError, FamilySpec, LinearLayout};

use super::cluster::{identity_modes, tensor_layout_from_block_tile};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let operand = read.number(&["operand_index", "op_idx"])?;
    let k_width = read.number_or(&["k_width"], 0)?;
    let parent = read.parent()?;
    read.check_all_read()?;
    let rank = shape.len();
    if operand > 1 || rank < 2 {
        return Err(read.invalid_value_error("operand_index", "must be 0 or 1, of a tensor of two or more axes"));
    }
    if parent.name != "blocked" {
        return Err(read.invalid_value_error("parent", &format!("`{}` has no dot operands here", parent.name)));
    }
    if k_width != 0 {
        return Err(read.invalid_value_error("k_width", "an operand of a blocked dot has none; leave it out, or 0"));
    }
    let of = parent.parameter_reader();
    let k_axis = if operand == 0 { rank - 1 } else { rank - 2 };
    let mut per_lane = of.powers_of_two(&["size_per_thread"], rank)?;
    let per_warp = of.powers_of_two(&["threads_per_warp"], rank)?;
    let per_block = of.powers_of_two(&["warps_per_cta"], rank)?;
    let order = of.axis_order(&["order"], rank)?;
    let mut cluster = of.bases_or_none(&["cga_layout"])?;
    of.check_all_read()?;
    for basis in cluster.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k_axis] = 0;
    }
    per_lane[k_axis] = shape[k_axis];
    let modes = identity_modes(Dim::REGISTER, &per_lane, &order, None)
        .chain(identity_modes(Dim::LANE, &per_warp, &order, Some(k_axis)))
        .chain(identity_modes(Dim::WARP, &per_block, &order, Some(k_axis)));
    tensor_layout_from_block_tile(parent, modes, &order, &cluster, shape)
}
