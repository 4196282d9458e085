//! `mma.sync` of compute capability 12.x that only code for the exact architecture (such as `sm_120a`) may use:
//! operands of four, six and eight bits, and block-scaled operands.
//!
//! Four-bit elements stored one in a byte are left out: they occupy the middle bits of a byte, and six-bit types
//! represent all their values.

use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::Instruction;

use super::mma::{register, row};

/// Element types of four, six or eight bits that take a byte for each element; four-bit types are left out.
const BYTES: [&str; 4] = ["e4m3", "e5m2", "e3m2", "e2m3"];

/// Block-scaled MMAs of packed four-bit elements: the kind, the number of scales along K for each row, and the type of
/// the scales.
const NIBBLES: [(&str, u64, &str); 3] = [("mxf4", 2, "ue8m0"), ("mxf4nvf4", 2, "ue8m0"), ("mxf4nvf4", 4, "ue4m3")];

/// Returns the instructions of an architecture; none unless it is an architecture-specific `sm_12x` target such as
/// `sm_120a`.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !architecture.starts_with("sm_12") || !architecture.ends_with('a') {
        return Vec::new();
    }
    let pairs = || BYTES.into_iter().flat_map(|a| BYTES.map(|b| (a, b)));
    let plain = pairs().flat_map(|(a, b)| ["f32", "f16"].map(|sum| plain([sum, a, b])));
    let bytes = pairs().map(|(a, b)| scaled("mxf8f6f4", [16, 8, 32], [a, b], 1, "ue8m0"));
    let nibbles = NIBBLES.map(|(kind, count, scale)| scaled(kind, [16, 8, 64], ["e2m1", "e2m1"], count, scale));
    // All rows of the tables above have valid layouts, so no error is dropped; tests count the instructions.
    plain.chain(bytes).chain(nibbles).flatten().collect()
}

fn plain([sum, a, b]: [&str; 3]) -> Result<Instruction, LayoutError> {
    let name = format!("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{sum}.{a}.{b}.{sum}");
    row(name, [16, 8, 32], [sum, a, b, sum])
}

fn scaled(
    kind: &str,
    [m, n, k]: [u64; 3],
    [a, b]: [&str; 2],
    count: u64,
    scale: &str,
) -> Result<Instruction, LayoutError> {
    let form = format!("kind::{kind}.block_scale.scale_vec::{count}X");
    let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{form}.f32.{a}.{b}.f32.{scale}");
    let mut row = row(name, [m, n, k], ["f32", a, b, "f32"])?;
    row.operands.push(register("scale_a", scale, 8, scales(m, &[8, 0, 1, 2, 4], count)?));
    row.operands.push(register("scale_b", scale, 8, scales(n, &[0, 0, 1, 2, 4], count)?));
    Ok(row)
}

/// Returns the layout of an operand's scales: a lane holds the `count` scales of one row of A, or of one column of B,
/// in the bytes of a register. Of the four lanes that share a result row, the first two hold the scales of two rows of
/// A, and the first holds the scales of a column of B; the other lanes hold replicas. The instruction's byte and thread
/// selectors are zero, which selects these bytes and lanes.
fn scales(rows: u64, lanes: &[u64], count: u64) -> Result<LinearLayout, LayoutError> {
    let lanes: DimBases = lanes.iter().map(|&row| vec![row, 0]).collect();
    let along = tile_from_identities(&[0, 1], &[(Dim::REGISTER, count, 1)])?;
    let registers = along.bases_of(Dim::REGISTER);
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), count)];
    LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &sizes)?.require_surjective()
}
