//! The `wmma` instructions of gfx1250 whose modifiers select the operand types, without and with scales.
//!
//! A lane holds chunks of 16 bytes along K (16 elements of eight bits or 32 of four), which alternate between the
//! halves of a wave. The lane whose index is the row holds the row's scales, one byte for each scale block of K. The
//! hardware could read scales from the upper lanes instead; here those hold replicas. Six-bit types are in
//! [`super::omitted_instructions_of`].

use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Instruction, MmaNumerics};

use super::wmma::{Generation, SIZE, Spread};
use super::{Element, mma_instruction};

const SOURCE: &str = "LLVM, IntrinsicsAMDGPU.td and SIDefines.h: operands and types of A, B and scales; Triton, lit \
    tests of scaled dots of gfx1250: dot operands of 16 bytes, layouts of scales";

/// Number of elements along K that one instruction multiplies.
const K: u64 = 128;

/// Element types of A and B that the instruction's modifiers select.
const TYPES: [&str; 3] = ["fp8", "bf8", "fp4"];

/// Number of bits that are adjacent along K in a lane.
const RUN_BITS: u64 = 128;

/// Returns the instructions of gfx1250: each pair of types without scales and with one scale for 32 elements, then
/// `fp4` with one scale for 16 elements.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "gfx1250" {
        return Vec::new();
    }
    let pairs = || TYPES.into_iter().flat_map(|a| TYPES.map(|b| (a, b)));
    let plain = pairs().map(|(a, b)| row("v_wmma", a, b, None));
    let scaled = pairs().map(|(a, b)| row("v_wmma_scale", a, b, Some((32, "e8m0"))));
    let nibbles = row("v_wmma_scale16", "fp4", "fp4", Some((16, "ue4m3")));
    // All combinations of types above have valid layouts, so no error is dropped; tests count the instructions.
    plain.chain(scaled).chain([nibbles]).filter_map(Result::ok).collect()
}

fn row(
    mnemonic: &str,
    a: &'static str,
    b: &'static str,
    scales: Option<(u64, &'static str)>,
) -> Result<Instruction, LayoutError> {
    let [out, of_a, of_b] = ["f32", a, b].map(Element::of);
    let operands = [
        (out, Generation::Third.result(32).over(0, [SIZE, SIZE])?),
        (of_a, operand_spread(of_a.bits).over(1, [SIZE, K])?),
        (of_b, operand_spread(of_b.bits).over(0, [K, SIZE])?),
    ];
    let name = format!("{mnemonic}_f32_16x16x128_f8f6f4({a},{b})");
    let mut row = mma_instruction(name, operands, None, Some(MmaNumerics::default()), SOURCE);
    if let Some((block, element)) = scales {
        let (scale, layout) = (Element::of(element), of_scales(K / block)?);
        row.operands.extend(["scale_a", "scale_b"].map(|role| scale.operand(role, layout.clone())));
    }
    Ok(row)
}

/// Returns the bases along K of an operand with elements of `bits` bits: the bases of the register bits, and of the
/// lane bit for the half of the wave.
fn operand_spread(bits: u32) -> Spread {
    let run = RUN_BITS / u64::from(bits);
    let units = (0..K.trailing_zeros()).map(|bit| 1 << bit);
    Spread { registers: units.filter(|&unit| unit != run).collect(), upper: vec![run] }
}

/// Returns the layout of an operand's scales: 16 rows by `count` scale blocks along K.
fn of_scales(count: u64) -> Result<LinearLayout, LayoutError> {
    let registers = (0..count.trailing_zeros()).map(|bit| vec![0, 1 << bit]).collect();
    let lanes = [1, 2, 4, 8, 0].map(|row| vec![row, 0]).to_vec();
    let sizes = [(Dim::tensor(0), SIZE), (Dim::tensor(1), count)];
    LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &sizes)
}
