//! `amd_mfma`: results and operands of the matrix instructions of CDNA.
//!
//! A wave of 64 lanes spreads first over the columns of a result and then over groups of its rows.
//! Tiles of a wave follow each other along all of N before any along M.

use tilewright_layout::families::cluster::{Part, layout_of, row_major, spread};
use tilewright_layout::{Dim, FamilyError, FamilySpec, LinearLayout, Numbers};

const LANES: u64 = 64;

/// Rows and columns of the results that one instruction can have.
const RESULTS: [[u64; 2]; 4] = [[32, 32], [16, 16], [64, 4], [4, 64]];

/// The instruction that a layout belongs to, spread over warps and blocks.
struct Mfma {
    m: u64,
    n: u64,
    transposed: bool,
    /// Rows that a lane holds side by side.
    height: u64,
    warps: Numbers,
    tiles: Numbers,
    cluster: Vec<Vec<u64>>,
}

impl Mfma {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameters();
        let version = read.number(&["version", "version_major"])?;
        let _ = read.number_or(&["version_minor"], 0)?;
        let instruction = read.numbers(&["instr_shape"])?;
        let transposed = read.flag_or(&["transposed", "is_transposed"], false)?;
        let warps = read.powers(&["warps_per_cta"], rank)?;
        let element = read.number_or(&["element_bitwidth", "element_bit_width"], 32)?;
        let tiles = match read.optional(&["tiles_per_warp"]) {
            Some(_) => read.powers(&["tiles_per_warp"], rank)?,
            None => Numbers::from_elem(1, rank),
        };
        let cluster = read.bases_or_none(&["cga_layout"])?;
        read.finish()?;
        if !(1..=4).contains(&version) {
            let message = format!("{version} is none of 1 (gfx908), 2 (gfx90a), 3 (gfx942) and 4 (gfx950)");
            return Err(read.wrong("version", &message));
        }
        let (m, n) = match instruction[..] {
            [m, n, _] if RESULTS.contains(&[m, n]) => (m, n),
            _ => {
                let message = format!("{instruction:?} must be [M, N, K], M and N being one of {RESULTS:?}");
                return Err(read.wrong("instr_shape", &message));
            }
        };
        let height = match element {
            32 => 4,
            64 => 1,
            _ => return Err(read.wrong("element_bitwidth", &format!("{element} is neither 32 nor 64"))),
        };
        Ok(Self { m, n, transposed, height, warps, tiles, cluster })
    }
}

/// The layout of the result.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let mfma = Mfma::read(spec, rank)?;
    if [mfma.m, mfma.n] == [64, 4] && !mfma.transposed {
        return Err(spec.parameters().wrong("transposed", "a 64x4 result exists transposed only"));
    }
    let (order, batch) = (row_major(rank), row_major(rank - 2));
    // Warps that the matrix does not take are spread over the axes before it.
    let parts = result_tile(&mfma, shape).into_iter().chain(spread(Dim::WARP, &mfma.warps, &batch, None));
    layout_of(spec, parts, &order, &mfma.cluster, shape)
}

/// All of N for the rows of one tile of every warp.
fn result_tile(mfma: &Mfma, shape: &[u64]) -> [Part; 9] {
    let rank = shape.len();
    let (row, column) = (rank - 2, rank - 1);
    // A transposed result is that of the instruction with A and B exchanged.
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
    .map(Part::from)
}

/// The layout of an operand in registers.
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
    // The operand with 64 rows or columns is 64x64: every lane has sixteen times as much of K.
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
    let (mut order, warp_order) = (row_major(rank), row_major(rank));
    if index == 1 {
        order.swap(0, 1);
    }
    let warps = spread(Dim::WARP, &mfma.warps, &warp_order, Some(k_axis));
    // Blocks along K share it out among them, unlike those of other vendors' operands.
    layout_of(parent, tile.map(Part::from).into_iter().chain(warps), &order, &mfma.cluster, shape)
}
