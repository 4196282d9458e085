//! `nvidia_mma`: results and register operands of `mma.sync` (version 2) and `wgmma` (version 3).
//!
//! Both are made of one 8x8 atom: four lanes along the contiguous axis of a row, each with some
//! neighbouring elements, and eight lanes along the other axis.

use tilewright_layout::families::cluster::{Part, layout_of, row_major, spread};
use tilewright_layout::{Axes, Dim, FamilyError, FamilySpec, LinearLayout, Numbers};

/// The instruction that a layout belongs to, spread over warps and blocks.
struct Mma {
    warp_group: bool,
    /// Rows and columns of the result of one instruction, for one warp.
    tile: [u64; 2],
    warps: Numbers,
    cluster: Vec<Vec<u64>>,
}

impl Mma {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameters();
        if spec.name != "nvidia_mma" {
            return Err(read.wrong("parent", "this plugin has dot operands of `nvidia_mma` only"));
        }
        let major = match read.optional(&["version"]) {
            Some(_) => read.numbers(&["version"])?.first().copied().unwrap_or(0),
            None => read.number(&["version_major"])?,
        };
        let _ = read.number_or(&["version_minor"], 0)?;
        let instruction = read.numbers(&["instr_shape"])?;
        let warps = read.powers(&["warps_per_cta"], rank)?;
        let cluster = read.bases_or_none(&["cga_layout"])?;
        read.finish()?;
        let warp_group = match major {
            2 => false,
            3 => true,
            _ => return Err(read.wrong("version", &format!("{major} is none of 2 (mma.sync) and 3 (wgmma)"))),
        };
        let tile = match instruction[..] {
            [m, n, _] if warp_group => [m, n],
            [m, n] if !warp_group => [m, n],
            [1, m, n] if !warp_group => [m, n],
            _ if warp_group => return Err(read.wrong("instr_shape", "must be [M, N, K]")),
            _ => return Err(read.wrong("instr_shape", "must be [M, N] or, with a batch, [1, M, N]")),
        };
        if tile.iter().any(|&size| size < 8 || !size.is_power_of_two()) {
            return Err(read.wrong("instr_shape", &format!("M and N of {tile:?} must be powers of two from 8 on")));
        }
        Ok(Self { warp_group, tile, warps, cluster })
    }

    /// Warps of a group follow each other down the rows, single warps along the columns.
    fn warp_order(&self, rank: usize) -> Axes {
        if self.warp_group { (0..rank).collect() } else { row_major(rank) }
    }

    /// `mma.sync` for f64 has 8x8 results and halves of the other operand tiles.
    fn is_narrow(&self) -> bool {
        !self.warp_group && self.tile == [8, 8]
    }
}

/// The layout of the result.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = matrix_rank(spec, shape)?;
    let mma = Mma::read(spec, rank)?;
    let (order, warp_order) = (row_major(rank), mma.warp_order(rank));
    let tile = atoms(2, rank - 1, mma.tile[1], rank - 2, mma.tile[0]);
    let parts = tile.into_iter().chain(spread(Dim::WARP, &mma.warps, &warp_order, None));
    layout_of(spec, parts, &order, &mma.cluster, shape)
}

/// The layout of an operand in registers.
pub(super) fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = matrix_rank(spec, shape)?;
    let read = spec.parameters();
    let index = read.number(&["operand_index", "op_idx"])?;
    let k_width = read.power(&["k_width"])?;
    let parent = read.parent()?;
    read.finish()?;
    let mma = Mma::read(parent, rank)?;
    let (k_axis, other_axis) = match index {
        0 => (rank - 1, rank - 2),
        1 if mma.warp_group => return Err(read.wrong("operand_index", "wgmma reads operand 1 from shared memory only")),
        1 => (rank - 2, rank - 1),
        _ => return Err(read.wrong("operand_index", &format!("{index} is neither 0 nor 1"))),
    };
    let other = if index == 0 && !mma.is_narrow() { 16 } else { 8 };
    let k = k_width.checked_mul(if mma.is_narrow() { 4 } else { 8 });
    let k = k.ok_or_else(|| read.wrong("k_width", &format!("{k_width} is too large")))?;
    let mut bases = mma.cluster.clone();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k_axis] = 0;
    }
    let (mut order, warp_order) = (row_major(rank), mma.warp_order(rank));
    if index == 1 {
        order.swap(0, 1);
    }
    let tile = atoms(k_width, k_axis, k, other_axis, other);
    let parts = tile.into_iter().chain(spread(Dim::WARP, &mma.warps, &warp_order, Some(k_axis)));
    layout_of(spec, parts, &order, &bases, shape)
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

/// Atoms of `width` x 4 lanes along the inner axis and 8 lanes along the outer one, repeated by
/// registers first along the outer and then along the inner axis.
fn atoms(width: u64, inner: usize, inner_size: u64, outer: usize, outer_size: u64) -> [Part; 5] {
    [
        (Dim::REGISTER, width, inner),
        (Dim::LANE, 4, inner),
        (Dim::LANE, 8, outer),
        (Dim::REGISTER, outer_size / 8, outer),
        (Dim::REGISTER, inner_size / width / 4, inner),
    ]
    .map(Part::from)
}
