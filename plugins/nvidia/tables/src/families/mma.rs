//! The family `nvidia_mma`: layouts of results and register operands of `mma.sync` (version 2) and `wgmma` (version 3).
//!
//! All these layouts repeat one 8x8 atom: four lanes go along the axis that is contiguous in registers, each with some
//! adjacent elements, and eight lanes go along the other axis.

use tilewright_layout::families::cluster::{
    TileMode, identity_modes, row_major_axis_order, tensor_layout_from_block_tile,
};
use tilewright_layout::{AxisNumbers, Dim, FamilyError, FamilySpec, IntVec, LinearLayout};

/// Parameters of an `nvidia_mma` layout: the instruction's tile, and how warps and blocks repeat it.
struct Mma {
    warp_group: bool,
    /// Number of rows and columns of one warp's part of an instruction's result.
    tile: [u64; 2],
    warps: IntVec,
    cluster: Vec<Vec<u64>>,
}

impl Mma {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        if spec.name != "nvidia_mma" {
            return Err(read.invalid_value_error("parent", "this plugin has dot operands of `nvidia_mma` only"));
        }
        let major = match read.optional(&["version"]) {
            Some(_) => read.numbers(&["version"])?.first().copied().unwrap_or(0),
            None => read.number(&["version_major"])?,
        };
        let _ = read.number_or(&["version_minor"], 0)?;
        let instruction = read.numbers(&["instr_shape"])?;
        let warps = read.powers_of_two(&["warps_per_cta"], rank)?;
        let cluster = read.bases_or_none(&["cga_layout"])?;
        read.check_all_read()?;
        let warp_group = match major {
            2 => false,
            3 => true,
            _ => {
                return Err(
                    read.invalid_value_error("version", &format!("{major} is none of 2 (mma.sync) and 3 (wgmma)"))
                );
            }
        };
        let tile = match instruction[..] {
            [m, n, _] if warp_group => [m, n],
            [m, n] if !warp_group => [m, n],
            [1, m, n] if !warp_group => [m, n],
            _ if warp_group => return Err(read.invalid_value_error("instr_shape", "must be [M, N, K]")),
            _ => return Err(read.invalid_value_error("instr_shape", "must be [M, N] or, with a batch, [1, M, N]")),
        };
        if tile.iter().any(|&size| size < 8 || !size.is_power_of_two()) {
            return Err(read
                .invalid_value_error("instr_shape", &format!("M and N of {tile:?} must be powers of two from 8 on")));
        }
        Ok(Self { warp_group, tile, warps, cluster })
    }

    /// Returns the tensor axes along which consecutive warps go, the fastest first: for a warpgroup rows come first,
    /// for `mma.sync` columns.
    fn warp_order(&self, rank: usize) -> AxisNumbers {
        if self.warp_group { (0..rank).collect() } else { row_major_axis_order(rank) }
    }

    /// Whether the result tile is 8x8. Only `mma.sync` for f64 has this tile; its operand tiles are smaller, too.
    fn is_narrow(&self) -> bool {
        !self.warp_group && self.tile == [8, 8]
    }
}

/// Returns the register layout of the MMA result for a tensor of this shape.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = matrix_rank(spec, shape)?;
    let mma = Mma::read(spec, rank)?;
    let (order, warp_order) = (row_major_axis_order(rank), mma.warp_order(rank));
    let tile = atoms(2, rank - 1, mma.tile[1], rank - 2, mma.tile[0]);
    let modes = tile.into_iter().chain(identity_modes(Dim::WARP, &mma.warps, &warp_order, None));
    tensor_layout_from_block_tile(spec, modes, &order, &mma.cluster, shape)
}

/// Returns the layout of operand A or B in registers, for a tensor of this shape.
pub(super) fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = matrix_rank(spec, shape)?;
    let read = spec.parameter_reader();
    let index = read.number(&["operand_index", "op_idx"])?;
    let k_width = read.power_of_two(&["k_width"])?;
    let parent = read.parent()?;
    read.check_all_read()?;
    let mma = Mma::read(parent, rank)?;
    let (k_axis, other_axis) = match index {
        0 => (rank - 1, rank - 2),
        1 if mma.warp_group => {
            return Err(read.invalid_value_error("operand_index", "wgmma reads operand 1 from shared memory only"));
        }
        1 => (rank - 2, rank - 1),
        _ => return Err(read.invalid_value_error("operand_index", &format!("{index} is neither 0 nor 1"))),
    };
    let other = if index == 0 && !mma.is_narrow() { 16 } else { 8 };
    let k = k_width.checked_mul(if mma.is_narrow() { 4 } else { 8 });
    let k = k.ok_or_else(|| read.invalid_value_error("k_width", &format!("{k_width} is too large")))?;
    let mut bases = mma.cluster.clone();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k_axis] = 0;
    }
    let (mut order, warp_order) = (row_major_axis_order(rank), mma.warp_order(rank));
    if index == 1 {
        order.swap(0, 1);
    }
    let tile = atoms(k_width, k_axis, k, other_axis, other);
    let modes = tile.into_iter().chain(identity_modes(Dim::WARP, &mma.warps, &warp_order, Some(k_axis)));
    tensor_layout_from_block_tile(spec, modes, &order, &bases, shape)
}

fn matrix_rank(spec: &FamilySpec, shape: &[u64]) -> Result<usize, FamilyError> {
    if shape.len() >= 2 {
        return Ok(shape.len());
    }
    Err(FamilyError::Shape {
        family: spec.name.clone(),
        shape: shape.to_vec(),
        message: "a matrix has at least two axes".to_owned(),
    })
}

/// Returns the modes of a layout of 8x8 atoms, `inner_size` along the axis `inner` by `outer_size` along the axis
/// `outer`. In an atom, four lanes go along `inner` with `width` adjacent elements each, and eight lanes along `outer`.
/// Registers repeat the atom along `outer` first.
fn atoms(width: u64, inner: usize, inner_size: u64, outer: usize, outer_size: u64) -> [TileMode; 5] {
    [
        (Dim::REGISTER, width, inner),
        (Dim::LANE, 4, inner),
        (Dim::LANE, 8, outer),
        (Dim::REGISTER, outer_size / 8, outer),
        (Dim::REGISTER, inner_size / width / 4, inner),
    ]
    .map(TileMode::from)
}
