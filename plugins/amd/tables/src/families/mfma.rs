//! The family `amd_mfma`: layouts of accumulators and register operands of the matrix instructions of CDNA (`mfma`).
//!
//! The 64 lanes of a wave first go along a row of the result, then to further groups of rows. The result tiles of one
//! wave repeat along N before they repeat along M.

use tilewright_layout::families::cluster::{
    TileMode, identity_modes, row_major_axis_order, tensor_layout_from_block_tile,
};
use tilewright_layout::{Dim, FamilyError, FamilySpec, IntVec, LinearLayout};

const LANES: u64 = 64;

/// Result shapes [M, N] of the `mfma` instructions that the family supports.
const RESULTS: [[u64; 2]; 4] = [[32, 32], [16, 16], [64, 4], [4, 64]];

/// Parameters of an `amd_mfma` layout: the instruction's result shape, and how registers, warps and blocks repeat it.
struct Mfma {
    m: u64,
    n: u64,
    transposed: bool,
    /// Number of adjacent rows of the result that each lane holds in consecutive registers.
    height: u64,
    warps: IntVec,
    tiles: IntVec,
    cluster: Vec<Vec<u64>>,
}

impl Mfma {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        let version = read.number(&["version", "version_major"])?;
        let _ = read.number_or(&["version_minor"], 0)?;
        let instruction = read.numbers(&["instr_shape"])?;
        let transposed = read.flag_or(&["transposed", "is_transposed"], false)?;
        let warps = read.powers_of_two(&["warps_per_cta"], rank)?;
        let element = read.number_or(&["element_bitwidth", "element_bit_width"], 32)?;
        let tiles = match read.optional(&["tiles_per_warp"]) {
            Some(_) => read.powers_of_two(&["tiles_per_warp"], rank)?,
            None => IntVec::from_elem(1, rank),
        };
        let cluster = read.bases_or_none(&["cga_layout"])?;
        read.check_all_read()?;
        if !(1..=4).contains(&version) {
            let message = format!("{version} is not one of 1 (gfx908), 2 (gfx90a), 3 (gfx942) and 4 (gfx950)");
            return Err(read.invalid_value_error("version", &message));
        }
        let (m, n) = match instruction[..] {
            [m, n, _] if RESULTS.contains(&[m, n]) => (m, n),
            _ => {
                let message = format!("{instruction:?} must be [M, N, K] with M and N from {RESULTS:?}");
                return Err(read.invalid_value_error("instr_shape", &message));
            }
        };
        let height = match element {
            32 => 4,
            64 => 1,
            _ => return Err(read.invalid_value_error("element_bitwidth", &format!("{element} is neither 32 nor 64"))),
        };
        Ok(Self { m, n, transposed, height, warps, tiles, cluster })
    }
}

/// Returns the register layout of the accumulator for a tensor of this shape.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let mfma = Mfma::read(spec, rank)?;
    if [mfma.m, mfma.n] == [64, 4] && !mfma.transposed {
        return Err(spec.parameter_reader().invalid_value_error("transposed", "a 64x4 result must be transposed"));
    }
    let (order, batch) = (row_major_axis_order(rank), row_major_axis_order(rank - 2));
    // Warps that `warps_per_cta` gives to batch axes cover these axes last.
    let modes = result_tile(&mfma, shape).into_iter().chain(identity_modes(Dim::WARP, &mfma.warps, &batch, None));
    tensor_layout_from_block_tile(spec, modes, &order, &mfma.cluster, shape)
}

/// Returns the tile of all warps: all columns (N) of the tensor, and in each warp the rows of one instruction (of
/// `tiles` instructions, if more than one).
fn result_tile(mfma: &Mfma, shape: &[u64]) -> [TileMode; 9] {
    let rank = shape.len();
    let (row, column) = (rank - 2, rank - 1);
    // In a transposed result, A and B are swapped, so rows and columns trade places.
    let (m_axis, m, n_axis, n) =
        if mfma.transposed { (column, mfma.n, row, mfma.m) } else { (row, mfma.m, column, mfma.n) };
    let covered = mfma.height * (LANES / n);
    let across = mfma.n.saturating_mul(mfma.warps[column]).saturating_mul(mfma.tiles[column]);
    [
        (Dim::REGISTER, mfma.height, m_axis),
        (Dim::LANE, n, n_axis),
        (Dim::LANE, LANES / n, m_axis),
        (Dim::REGISTER, (m / covered).max(1), m_axis),
        (Dim::REGISTER, mfma.tiles[column], column),
        (Dim::WARP, mfma.warps[column], column),
        (Dim::REGISTER, (shape[column] / across).max(1), column),
        (Dim::REGISTER, mfma.tiles[row], row),
        (Dim::WARP, mfma.warps[row], row),
    ]
    .map(TileMode::from)
}

/// Returns the register layout of operand A (`index` 0) or B (1). `parent` is the spec of the result's layout; a lane
/// holds `k_width` adjacent elements along K.
pub(super) fn operand(
    parent: &FamilySpec,
    index: u64,
    k_width: u64,
    shape: &[u64],
) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let mfma = Mfma::read(parent, rank)?;
    let (k_axis, other_axis, other) =
        if index == 0 { (rank - 1, rank - 2, mfma.m) } else { (rank - 2, rank - 1, mfma.n) };
    let lanes_along_k = LANES / other;
    // The instructions 64x4 and 4x64 have K = 16 * `k_width`. Of the operand with 64 rows or columns, each lane holds
    // all of K; of the other operand, sixteen lanes share K.
    let more = if other == LANES { 16 } else { 1 };
    let k_tile = k_width.saturating_mul(lanes_along_k * more);
    let tile = [
        (Dim::REGISTER, k_width, k_axis),
        (Dim::LANE, other, other_axis),
        (Dim::LANE, lanes_along_k, k_axis),
        (Dim::REGISTER, more, k_axis),
        (Dim::REGISTER, (shape[k_axis] / k_tile).max(1), k_axis),
        (Dim::REGISTER, mfma.tiles[other_axis], other_axis),
    ];
    let (mut order, warp_order) = (row_major_axis_order(rank), row_major_axis_order(rank));
    if index == 1 {
        order.swap(0, 1);
    }
    let warps = identity_modes(Dim::WARP, &mfma.warps, &warp_order, Some(k_axis));
    // Blocks of a cluster along K each hold a different part of K, unlike in other vendors' operand layouts.
    tensor_layout_from_block_tile(
        parent,
        tile.map(TileMode::from).into_iter().chain(warps),
        &order,
        &mfma.cluster,
        shape,
    )
}
