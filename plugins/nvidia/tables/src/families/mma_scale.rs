//! The family `mma_scale`: register layouts of the scales of one operand of a block-scaled `mma.sync`.
//!
//! A tensor of scales has one row for each row of A or column of B; its second axis counts the scale blocks along K.

use tilewright_layout::families::cluster::{cluster_layout, extend_tile_to_tensor, row_major_axis_order};
use tilewright_layout::{Dim, DimBases, FamilyError, FamilySpec, LayoutError, LinearLayout};

/// Returns the layout of a tensor of scales. The parameter `warps_per_cta` has the warps along each axis of the MMA's
/// result.
pub(super) fn registers(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    if rank != 2 && rank != 3 {
        let message = "scales have two axes, or three with a batch".to_owned();
        return Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message });
    }
    let read = spec.parameter_reader();
    let index = read.number(&["operand_index", "op_idx"])?;
    let warps = read.powers_of_two(&["warps_per_cta"], rank)?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    if index > 1 {
        return Err(read.invalid_value_error("operand_index", &format!("{index} is neither 0 nor 1")));
    }
    let cluster = cluster_layout(spec, &cluster, rank)?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let tile = tile(index == 0, shape)?.direct_sum(&spread(index == 0, &warps)?)?;
        extend_tile_to_tensor(&tile, &cluster, shape)
    };
    build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

/// Returns the layout of the scales of one warp, with all of K in registers. The four lanes of a quad hold the scales
/// of one column of B, or of two rows of A that are eight apart.
fn tile(is_left: bool, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let (rank, rows) = (shape.len(), shape.len() - 2);
    let in_quad = if is_left { 8 } else { 0 };
    let lanes: DimBases = [in_quad, 0, 1, 2, 4]
        .map(|row| {
            let mut basis = vec![0; rank];
            basis[rows] = row;
            basis
        })
        .into();
    let sizes: Vec<_> = (0..rank).map(|axis| (Dim::tensor(axis), if axis == rows { 8 + in_quad } else { 1 })).collect();
    let along = LinearLayout::identity(shape[rank - 1], Dim::REGISTER, Dim::tensor(rank - 1))?;
    LinearLayout::from_bases(&[(Dim::REGISTER, Vec::new()), (Dim::LANE, lanes)], &sizes)?.direct_sum(&along)
}

/// Returns the layout of the scales over warps, in the order of the warps of the MMA's result. Warps that differ only
/// along the other operand's axis hold replicas.
fn spread(is_left: bool, warps: &[u64]) -> Result<LinearLayout, LayoutError> {
    let rank = warps.len();
    let own = if is_left { rank - 2 } else { rank - 1 };
    row_major_axis_order(rank).into_iter().try_fold(LinearLayout::empty(), |sum, axis| {
        let mode = if axis == own {
            LinearLayout::identity(warps[axis], Dim::WARP, Dim::tensor(rank - 2))?
        } else if axis < rank - 2 {
            LinearLayout::identity(warps[axis], Dim::WARP, Dim::tensor(axis))?
        } else {
            LinearLayout::zeros(warps[axis], Dim::WARP, Dim::tensor(rank - 2), 1)?
        };
        sum.direct_sum(&mode)
    })
}
