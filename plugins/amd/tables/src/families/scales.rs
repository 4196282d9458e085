//! The families `mfma_scale` and `wmma_scale`: register layouts of the scales of one operand of a block-scaled matrix
//! instruction.
//!
//! A tensor of scales has one row for each row of A or column of B; its second axis counts the scale blocks along K. A
//! lane holds scales of the same rows or columns as of the operand, but not of the same part of K.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::{
    TileMode, cluster_layout, extend_tile_to_tensor, row_major_axis_order, tensor_layout_from_block_tile,
};
use tilewright_layout::{
    BasesParameter, BasisCoordinates, Dim, FamilyError, FamilySpec, IntVec, LayoutError, LinearLayout, Space,
};

const LANES: u64 = 64;
/// Number of elements along K that one block-scaled `wmma` of gfx1250 multiplies.
const WMMA_K: u64 = 128;

/// Reads the parameters that both families have: the operand index (0 for A, 1 for B), and `mdim`, the number of rows
/// of one instruction's result.
fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<(usize, u64), FamilyError> {
    let read = spec.parameter_reader();
    let index = match read.number(&["operand_index", "op_idx"])? {
        index @ (0 | 1) => index as usize,
        index => return Err(read.invalid_value_error("operand_index", &format!("{index} is neither 0 nor 1"))),
    };
    let rows = read.number(&["mdim"])?;
    if rows != 16 && rows != 32 {
        return Err(read.invalid_value_error("mdim", &format!("{rows} is neither 16 nor 32")));
    }
    if shape.len() != 2 {
        let message = "scales have two axes".to_owned();
        return Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message });
    }
    let given = read.optional(&["shape"]).map(|_| read.numbers(&["shape"])).transpose()?;
    if given.is_some_and(|given| given[..] != *shape) {
        return Err(read.invalid_value_error("shape", "is not that of the tensor"));
    }
    Ok((index, rows))
}

/// Returns the register layout of the scales of an operand of `mfma` on gfx950.
pub(super) fn mfma(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let (index, rows) = operand(spec, shape)?;
    let read = spec.parameter_reader();
    let _ = (read.optional(&["operand_index", "op_idx"]), read.optional(&["mdim"]), read.optional(&["shape"]));
    let tiles = read.powers_of_two(&["tiles_per_warp"], 2)?;
    let warps = read.powers_of_two(&["warps_per_cta"], 2)?;
    read.check_all_read()?;
    let along_k = LANES / rows;
    // Warps along the other operand's axis hold replicas.
    let warps_along = |axis: usize| {
        if axis == index {
            TileMode::from((Dim::WARP, warps[axis], 0))
        } else {
            TileMode::replicated(Dim::WARP, warps[axis])
        }
    };
    let modes = [
        TileMode::from((Dim::LANE, rows, 0)),
        TileMode::from((Dim::LANE, along_k, 1)),
        TileMode::from((Dim::REGISTER, (shape[1] / along_k).max(1), 1)),
        TileMode::from((Dim::REGISTER, tiles[index], 0)),
        warps_along(1),
        warps_along(0),
    ];
    tensor_layout_from_block_tile(spec, modes.into_iter(), &row_major_axis_order(2), &[], shape)
}

/// Returns the register layout of the scales of an operand of `wmma` on gfx1250.
pub(super) fn wmma(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let (index, m) = operand(spec, shape)?;
    let read = spec.parameter_reader();
    let _ = (read.optional(&["operand_index", "op_idx"]), read.optional(&["mdim"]), read.optional(&["shape"]));
    let n = read.number_or(&["ndim"], 16)?;
    let transposed = read.flag_or(&["transposed", "is_transposed"], false)?;
    let block_size = read.number_or(&["scale_factor"], 32)?;
    let registers = read.borrow_bases(&["reg_bases"])?;
    let warps = read.borrow_bases(&["warp_bases"])?;
    read.check_all_read()?;
    if n != 16 {
        return Err(read.invalid_value_error("ndim", &format!("{n} is not 16")));
    }
    if block_size != 16 && block_size != 32 {
        return Err(read.invalid_value_error("scale_factor", &format!("{block_size} is neither 16 nor 32")));
    }
    let scale_bases = |name: &str, bases: BasesParameter<'_>| -> Result<IntVec, FamilyError> {
        let along = |mut basis: BasisCoordinates<'_>| match (basis.next(), basis.next(), basis.next()) {
            (Some(row), Some(column), None) if row.max(column) < 1 << 32 => Ok([row, column][index]),
            _ => Err(read.invalid_value_error(name, "each basis must have two coordinates, below 2^32")),
        };
        bases.iter().map(along).collect()
    };
    let tiles = Tiles { m, of_operand: if (index == 0) == transposed { n } else { m }, k: WMMA_K / block_size };
    let (registers, warps) = (scale_bases("reg_bases", registers)?, scale_bases("warp_bases", warps)?);
    let cluster = cluster_layout(spec, &[], 2)?;
    let build = || extend_tile_to_tensor(&tiles.spread(&registers, &warps, shape[1])?, &cluster, shape);
    build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

/// The tile of scales that one instruction reads for one operand.
struct Tiles {
    /// Number of rows (M) of the instruction's result.
    m: u64,
    /// Number of rows of scales in one instruction: the rows of A or the columns of B.
    of_operand: u64,
    /// Number of scales along K in one instruction.
    k: u64,
}

impl Tiles {
    /// Returns the layout of an operand's scales in one block, with `groups` scales along K in each row. `registers`
    /// and `warps` have, for each bit of the register index and of the warp index, the step along the rows in tiles.
    fn spread(&self, registers: &[u64], warps: &[u64], groups: u64) -> Result<LinearLayout, LayoutError> {
        let tile = self.of_operand;
        let mut scale_bases: IntVec = registers.iter().filter(|&&by| by != 0).map(|by| by * tile).collect();
        let units = registers.iter().chain(warps).fold(0, |all, by| all | by) + 1;
        let mut rows = tile * units.next_power_of_two();
        // Lanes 16 to 31 hold the upper 16 rows of a tile of 32 rows. For a tile of 16 rows they hold the next tile, so
        // that one register serves two instructions, unless the other operand has 32 rows.
        let upper = if tile > 16 {
            16
        } else if self.m > 16 {
            0
        } else if scale_bases.is_empty() {
            rows *= 2;
            rows / 2
        } else {
            scale_bases.remove(0)
        };
        let along_k = groups.max(self.k);
        let k_bits = along_k.trailing_zeros();
        let mut ins = Space::default();
        ins.push(Dim::REGISTER, k_bits + scale_bases.len() as u32)?;
        ins.push(Dim::LANE, 5)?;
        ins.push(Dim::WARP, warps.len() as u32)?;
        let moved = scale_bases.into_iter().chain([1, 2, 4, 8, upper]).chain(warps.iter().map(|by| by * tile));
        let columns: Columns = (0..k_bits).map(|bit| 1 << bit).chain(moved.map(|row| row << k_bits)).collect();
        let outs = Space::from_sizes(&[(Dim::tensor(1), along_k), (Dim::tensor(0), rows)])?;
        LinearLayout::from_columns(ins, outs, &columns)?.require_surjective()
    }
}
