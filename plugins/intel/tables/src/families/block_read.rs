//! The layout family `subgroup_2d_block`: registers that a sub-group's 2-D block load fills with an operand of an MMA.

use tilewright_layout::families::cluster::{
    TileMode, identity_modes, row_major_axis_order, tensor_layout_from_block_tile,
};
use tilewright_layout::{Dim, FamilyError, FamilySpec, LinearLayout};

use super::operand_axes::operand_axes;

/// Returns the layout of MMA operand A (`is_left`) or B, loaded by 2-D block loads. Lanes go along a row, each with one
/// or more adjacent elements, then over further rows. `num_blocks` blocks, adjacent along the row, follow each other in
/// registers.
pub(super) fn operand(spec: &FamilySpec, is_left: bool, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let read = spec.parameter_reader();
    let block = read.powers_of_two(&["instr_shape"], 2)?;
    let blocks = read.power_of_two(&["num_blocks"])?;
    let warps = read.powers_of_two(&["warps_per_cta"], rank)?;
    let lanes = read.power_of_two(&["threads_per_warp"])?;
    let _ = (read.axis_order(&["order"], rank)?, read.number_or(&["k_width"], 1)?);
    let bases = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    let [height, width] = block[..] else {
        return Err(read.invalid_value_error("instr_shape", "must be [height, width]"));
    };
    let together = (width / lanes).max(1);
    let along_row = width / together;
    let rows = lanes / along_row;
    if rows > height {
        return Err(
            read.invalid_value_error("instr_shape", &format!("{height}x{width} is too small for {lanes} lanes"))
        );
    }
    let (k, _) = operand_axes(is_left, rank);
    let (row, column) = (rank - 2, rank - 1);
    let modes = [
        (Dim::REGISTER, together, column),
        (Dim::LANE, along_row, column),
        (Dim::LANE, rows, row),
        (Dim::REGISTER, height / rows, row),
        (Dim::REGISTER, blocks, column),
    ];
    // For both operands, tiles repeat along the last axis but one first, then along the last axis.
    let mut order = row_major_axis_order(rank);
    order.swap(0, 1);
    let warp_order = row_major_axis_order(rank);
    let warps = identity_modes(Dim::WARP, &warps, &warp_order, Some(k));
    tensor_layout_from_block_tile(spec, modes.map(TileMode::from).into_iter().chain(warps), &order, &bases, shape)
}
