//! `mfma`: the dense matrix instructions of CDNA, for waves of 64 lanes.

use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Instruction, InstructionOperand};

use super::{Element, mma_instruction, numerics};

const SOURCE: &str = "AMD Matrix Instruction Calculator; CDNA instruction set manuals";
const LANES: u64 = 64;

/// One instruction: mnemonic, [M, N, K], number of independent matrices (blocks), element types of the result, of A and
/// of B, and cycles per instruction if published.
type Entry = (&'static str, [u64; 3], u64, [&'static str; 3], Option<u32>);

const GFX908: [Entry; 20] = [
    ("v_mfma_f32_32x32x1f32", [32, 32, 1], 2, F32, Some(64)),
    ("v_mfma_f32_16x16x1f32", [16, 16, 1], 4, F32, Some(32)),
    ("v_mfma_f32_4x4x1f32", [4, 4, 1], 16, F32, Some(8)),
    ("v_mfma_f32_32x32x2f32", [32, 32, 2], 1, F32, Some(64)),
    ("v_mfma_f32_16x16x4f32", [16, 16, 4], 1, F32, Some(32)),
    ("v_mfma_f32_32x32x4f16", [32, 32, 4], 2, F16, Some(64)),
    ("v_mfma_f32_16x16x4f16", [16, 16, 4], 4, F16, Some(32)),
    ("v_mfma_f32_4x4x4f16", [4, 4, 4], 16, F16, Some(8)),
    ("v_mfma_f32_32x32x8f16", [32, 32, 8], 1, F16, Some(64)),
    ("v_mfma_f32_16x16x16f16", [16, 16, 16], 1, F16, Some(32)),
    ("v_mfma_i32_32x32x4i8", [32, 32, 4], 2, I8, Some(64)),
    ("v_mfma_i32_16x16x4i8", [16, 16, 4], 4, I8, Some(32)),
    ("v_mfma_i32_4x4x4i8", [4, 4, 4], 16, I8, Some(8)),
    ("v_mfma_i32_32x32x8i8", [32, 32, 8], 1, I8, Some(64)),
    ("v_mfma_i32_16x16x16i8", [16, 16, 16], 1, I8, Some(32)),
    ("v_mfma_f32_32x32x2bf16", [32, 32, 2], 2, BF16, Some(64)),
    ("v_mfma_f32_16x16x2bf16", [16, 16, 2], 4, BF16, Some(32)),
    ("v_mfma_f32_4x4x2bf16", [4, 4, 2], 16, BF16, Some(8)),
    ("v_mfma_f32_32x32x4bf16", [32, 32, 4], 1, BF16, Some(64)),
    ("v_mfma_f32_16x16x8bf16", [16, 16, 8], 1, BF16, Some(32)),
];

/// Instructions of gfx90a in addition to those of gfx908.
const GFX90A: [Entry; 7] = [
    ("v_mfma_f32_32x32x4bf16_1k", [32, 32, 4], 2, BF16, Some(64)),
    ("v_mfma_f32_16x16x4bf16_1k", [16, 16, 4], 4, BF16, Some(32)),
    ("v_mfma_f32_4x4x4bf16_1k", [4, 4, 4], 16, BF16, Some(8)),
    ("v_mfma_f32_32x32x8bf16_1k", [32, 32, 8], 1, BF16, Some(64)),
    ("v_mfma_f32_16x16x16bf16_1k", [16, 16, 16], 1, BF16, Some(32)),
    ("v_mfma_f64_16x16x4f64", [16, 16, 4], 1, F64, Some(32)),
    ("v_mfma_f64_4x4x4f64", [4, 4, 4], 4, F64, Some(16)),
];

/// Instructions that both gfx942 and gfx950 have.
const GFX94X: [Entry; 30] = [
    ("v_mfma_f32_32x32x1_2b_f32", [32, 32, 1], 2, F32, Some(64)),
    ("v_mfma_f32_16x16x1_4b_f32", [16, 16, 1], 4, F32, Some(32)),
    ("v_mfma_f32_4x4x1_16b_f32", [4, 4, 1], 16, F32, Some(8)),
    ("v_mfma_f32_32x32x2_f32", [32, 32, 2], 1, F32, Some(64)),
    ("v_mfma_f32_16x16x4_f32", [16, 16, 4], 1, F32, Some(32)),
    ("v_mfma_f32_32x32x4_2b_f16", [32, 32, 4], 2, F16, Some(64)),
    ("v_mfma_f32_16x16x4_4b_f16", [16, 16, 4], 4, F16, Some(32)),
    ("v_mfma_f32_4x4x4_16b_f16", [4, 4, 4], 16, F16, Some(8)),
    ("v_mfma_f32_32x32x8_f16", [32, 32, 8], 1, F16, Some(32)),
    ("v_mfma_f32_16x16x16_f16", [16, 16, 16], 1, F16, Some(16)),
    ("v_mfma_f32_32x32x4_2b_bf16", [32, 32, 4], 2, BF16, Some(64)),
    ("v_mfma_f32_16x16x4_4b_bf16", [16, 16, 4], 4, BF16, Some(32)),
    ("v_mfma_f32_4x4x4_16b_bf16", [4, 4, 4], 16, BF16, Some(8)),
    ("v_mfma_f32_32x32x8_bf16", [32, 32, 8], 1, BF16, Some(32)),
    ("v_mfma_f32_16x16x16_bf16", [16, 16, 16], 1, BF16, Some(16)),
    ("v_mfma_i32_32x32x4_2b_i8", [32, 32, 4], 2, I8, Some(64)),
    ("v_mfma_i32_16x16x4_4b_i8", [16, 16, 4], 4, I8, Some(32)),
    ("v_mfma_i32_4x4x4_16b_i8", [4, 4, 4], 16, I8, Some(8)),
    ("v_mfma_i32_32x32x16_i8", [32, 32, 16], 1, I8, Some(32)),
    ("v_mfma_i32_16x16x32_i8", [16, 16, 32], 1, I8, Some(16)),
    ("v_mfma_f64_16x16x4_f64", [16, 16, 4], 1, F64, Some(32)),
    ("v_mfma_f64_4x4x4_4b_f64", [4, 4, 4], 4, F64, Some(16)),
    ("v_mfma_f32_32x32x16_fp8_fp8", [32, 32, 16], 1, ["f32", "fp8", "fp8"], Some(32)),
    ("v_mfma_f32_32x32x16_fp8_bf8", [32, 32, 16], 1, ["f32", "fp8", "bf8"], Some(32)),
    ("v_mfma_f32_32x32x16_bf8_fp8", [32, 32, 16], 1, ["f32", "bf8", "fp8"], Some(32)),
    ("v_mfma_f32_32x32x16_bf8_bf8", [32, 32, 16], 1, ["f32", "bf8", "bf8"], Some(32)),
    ("v_mfma_f32_16x16x32_fp8_fp8", [16, 16, 32], 1, ["f32", "fp8", "fp8"], Some(16)),
    ("v_mfma_f32_16x16x32_fp8_bf8", [16, 16, 32], 1, ["f32", "fp8", "bf8"], Some(16)),
    ("v_mfma_f32_16x16x32_bf8_fp8", [16, 16, 32], 1, ["f32", "bf8", "fp8"], Some(16)),
    ("v_mfma_f32_16x16x32_bf8_bf8", [16, 16, 32], 1, ["f32", "bf8", "bf8"], Some(16)),
];

/// Instructions that gfx942 has and gfx950 lacks.
const GFX942: [Entry; 2] = [
    ("v_mfma_f32_32x32x4_xf32", [32, 32, 4], 1, XF32, Some(32)),
    ("v_mfma_f32_16x16x8_xf32", [16, 16, 8], 1, XF32, Some(16)),
];

/// Instructions that gfx950 has and gfx942 lacks, with the cycles of LLVM's scheduling model (see `mi355x.toml`).
/// Instructions whose modifiers select element types are in [`mixed`].
const GFX950: [Entry; 6] = [
    ("v_mfma_f32_32x32x16_f16", [32, 32, 16], 1, F16, Some(32)),
    ("v_mfma_f32_16x16x32_f16", [16, 16, 32], 1, F16, Some(16)),
    ("v_mfma_f32_32x32x16_bf16", [32, 32, 16], 1, BF16, Some(32)),
    ("v_mfma_f32_16x16x32_bf16", [16, 16, 32], 1, BF16, Some(16)),
    ("v_mfma_i32_32x32x32_i8", [32, 32, 32], 1, I8, Some(32)),
    ("v_mfma_i32_16x16x64_i8", [16, 16, 64], 1, I8, Some(16)),
];

/// Mnemonics and [M, N, K] of the instructions of gfx950 whose modifiers select the element types of A and B.
const MIXED: [(&str, [u64; 3]); 2] =
    [("v_mfma_f32_32x32x64_f8f6f4", [32, 32, 64]), ("v_mfma_f32_16x16x128_f8f6f4", [16, 16, 128])];

/// Element types that the modifiers of [`MIXED`] select. Six-bit elements are packed: 32 elements in six registers.
const MIXED_TYPES: [&str; 5] = ["fp8", "bf8", "fp6", "bf6", "fp4"];

const F32: [&str; 3] = ["f32", "f32", "f32"];
const XF32: [&str; 3] = ["f32", "xf32", "xf32"];
const F16: [&str; 3] = ["f32", "f16", "f16"];
const BF16: [&str; 3] = ["f32", "bf16", "bf16"];
const I8: [&str; 3] = ["i32", "i8", "i8"];
const F64: [&str; 3] = ["f64", "f64", "f64"];

/// Returns the `mfma` instructions of `gfx908`, `gfx90a`, `gfx942` or `gfx950`; none for other architectures.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    let tables: &[&[Entry]] = match architecture {
        "gfx908" => &[&GFX908],
        "gfx90a" => &[&GFX908, &GFX90A],
        "gfx942" => &[&GFX94X, &GFX942],
        "gfx950" => &[&GFX94X, &GFX950],
        _ => &[],
    };
    // All entries of the tables above have valid layouts, so no error is dropped; tests count the instructions.
    let mut rows: Vec<_> = tables.iter().copied().flatten().filter_map(|entry| row(architecture, entry).ok()).collect();
    if architecture == "gfx950" {
        // gfx950 multiplies `f64` matrices at half the rate of gfx942.
        rows.iter_mut().filter(|row| row.name == "v_mfma_f64_16x16x4_f64").for_each(|row| row.cycles = Some(64.0));
        rows.extend(mixed().filter_map(Result::ok));
        rows.extend(scaled().filter_map(Result::ok));
    }
    if architecture == "gfx942" {
        rows.iter_mut().flat_map(|row| &mut row.operands).for_each(without_negative_zero);
    }
    rows
}

/// On gfx942, renames an operand's 8-bit floating-point type to the FNUZ variant, which has neither infinities nor a
/// negative zero. Later architectures have the OCP types.
fn without_negative_zero(operand: &mut InstructionOperand) {
    if let InstructionOperand::Register { element, .. } = operand
        && matches!(element.as_str(), "fp8" | "bf8")
    {
        element.push_str("_fnuz");
    }
}

/// Whether gfx908 or gfx90a has an instruction of this name.
#[must_use]
pub fn exists_before_gfx940(name: &str) -> bool {
    GFX908.iter().chain(&GFX90A).any(|entry| entry.0 == name)
}

/// Returns the instructions of [`MIXED`] for each pair of [`MIXED_TYPES`]; the name of each includes the two types.
fn mixed() -> impl Iterator<Item = Result<Instruction, LayoutError>> {
    let pairs = MIXED_TYPES.into_iter().flat_map(|a| MIXED_TYPES.map(|b| (a, b)));
    pairs.flat_map(|(a, b)| {
        MIXED.map(|(name, shape)| {
            // The instruction takes as many cycles as the result has rows, and twice as many if an operand has 8-bit
            // elements.
            let has_bytes = [a, b].map(Element::of).iter().any(|element| element.bits == 8);
            let cycles = shape[0] as u32 * if has_bytes { 2 } else { 1 };
            let mut row = row("gfx950", &(name, shape, 1, ["f32", a, b], Some(cycles)))?;
            row.name = format!("{name}({a},{b})");
            Ok(row)
        })
    })
}

/// Returns the instructions of [`mixed`] with one scale for each 32 elements along K. Lane group g (32 or 16 lanes, as
/// M) holds the scales of k = 32 g to 32 g + 31, whichever lanes hold these elements.
fn scaled() -> impl Iterator<Item = Result<Instruction, LayoutError>> {
    const BLOCK: u64 = 32;
    mixed().map(|row| {
        let mut row = row?;
        row.name = row.name.replace("v_mfma_", "v_mfma_scale_");
        let size = if row.name.contains("_32x32x64_") { 32 } else { 16 };
        let k = LANES / size * BLOCK;
        let layout =
            tile_from_identities(&[0, 1], &[(Dim::REGISTER, 1, 1), (Dim::LANE, size, 0), (Dim::LANE, k / BLOCK, 1)])?;
        let scale = Element::of("e8m0");
        row.operands.extend(["scale_a", "scale_b"].map(|role| scale.operand(role, layout.clone())));
        row.numerics = None;
        Ok(row)
    })
}

fn row(architecture: &str, &(name, [m, n, k], blocks, types, cycles): &Entry) -> Result<Instruction, LayoutError> {
    let [out, of_a, of_b] = types.map(Element::of);
    let operands = [
        (out, result(m, n, blocks, out.bits)?),
        (of_a, operand(0, m, 1, k, blocks, adjacent_along_k(name, of_a.bits))?),
        (of_b, operand(1, n, 0, k, blocks, adjacent_along_k(name, of_b.bits))?),
    ];
    let numerics = numerics::of(architecture, name, of_a.name);
    Ok(mma_instruction(name.to_owned(), operands, cycles, numerics, SOURCE))
}

/// Returns the maximum number of elements of `bits` bits that are adjacent along K in a lane, for operands of the
/// instruction `name`. If modifiers select the types, a lane holds eight-bit elements in two chunks of 16, half of K
/// apart, and narrower ones in one chunk (AMD, "Introduction to Matrix Core Programming on CDNA3 and CDNA4", 5.4).
fn adjacent_along_k(name: &str, bits: u32) -> u64 {
    if name.ends_with("_f8f6f4") && bits == 8 { 16 } else { u64::MAX }
}

/// Returns the layout of an operand with `size` rows of A (or columns of B) on the axis `axis`, and K on the axis
/// `k_axis`. Lanes go along `axis`, then over the independent matrices (blocks), then along K; a lane holds the rest of
/// K in chunks of at most `adjacent` elements.
fn operand(
    axis: usize,
    size: u64,
    k_axis: usize,
    k: u64,
    blocks: u64,
    adjacent: u64,
) -> Result<LinearLayout, LayoutError> {
    let along_k = LANES / size / blocks;
    let chunk = (k / along_k).min(adjacent);
    let modes = [
        (Dim::REGISTER, chunk, k_axis),
        (Dim::LANE, size, axis),
        (Dim::LANE, blocks, 2),
        (Dim::LANE, along_k, k_axis),
        (Dim::REGISTER, k / along_k / chunk, k_axis),
    ];
    tile(&modes, blocks)
}

/// Returns the layout of the result of `blocks` independent matrices. A lane holds four adjacent rows (one for `f64`).
/// Lanes go along the columns, then over the matrices if the lanes suffice for all, then along the rows.
fn result(m: u64, n: u64, blocks: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let height = if bits == 64 { 1 } else { 4 };
    let groups = m / height;
    let all_fit = n * blocks * groups <= LANES;
    let (over_lanes, over_registers) = if all_fit { (blocks, 1) } else { (1, blocks) };
    let rows = groups.min(LANES / n / over_lanes);
    let modes = [
        (Dim::REGISTER, height, 0),
        (Dim::LANE, n, 1),
        (Dim::LANE, over_lanes, 2),
        (Dim::LANE, rows, 0),
        (Dim::REGISTER, groups / rows, 0),
        (Dim::REGISTER, over_registers, 2),
    ];
    tile(&modes, blocks)
}

/// Builds the layout of a tile from its modes (input, size, axis). The axis of independent matrices (axis 2) is left
/// out if there is one matrix.
fn tile(modes: &[(Dim, u64, usize)], blocks: u64) -> Result<LinearLayout, LayoutError> {
    if blocks > 1 {
        return tile_from_identities(&[0, 1, 2], modes);
    }
    let without: Vec<_> = modes.iter().copied().filter(|&(_, _, axis)| axis < 2).collect();
    tile_from_identities(&[0, 1], &without)
}
