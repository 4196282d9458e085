//! `wmma`: the dense matrix instructions of RDNA 3, RDNA 4 and gfx1250.
//!
//! RDNA executes `wmma` in waves of 32 and of 64 lanes, with different operand layouts; the names of instructions for
//! 64 lanes end with `(wave64)`. gfx1250 has waves of 32 lanes only.
//!
//! Modifiers of integer instructions select signed operands and saturation. Each combination is a separate instruction
//! here; its name includes the types unless both operands are signed, and `clamp` if it saturates.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{Instruction, Semantics};

use super::{Element, mma_instruction, numerics};

const CALCULATED: &str = "AMD Matrix Instruction Calculator";
const PUBLISHED: &str = "ROCm FlyDSL, matrix instructions of gfx1250; results of 16 bits: LLVM, IntrinsicsAMDGPU.td, eight neighbours in four words";

/// Number of rows, and also of columns, of the result of one instruction.
pub(super) const SIZE: u64 = 16;

/// One instruction: mnemonic, K, element types of the result, of A and of B, and cycles per instruction if published.
type Entry = (&'static str, u64, [&'static str; 3], Option<u32>);

const RDNA3: [Entry; 6] = [
    ("v_wmma_f32_16x16x16_f16", 16, ["f32", "f16", "f16"], Some(32)),
    ("v_wmma_f32_16x16x16_bf16", 16, ["f32", "bf16", "bf16"], Some(32)),
    ("v_wmma_f16_16x16x16_f16", 16, ["f16", "f16", "f16"], Some(32)),
    ("v_wmma_bf16_16x16x16_bf16", 16, ["bf16", "bf16", "bf16"], Some(32)),
    ("v_wmma_i32_16x16x16_iu8", 16, ["i32", "iu8", "iu8"], Some(32)),
    ("v_wmma_i32_16x16x16_iu4", 16, ["i32", "iu4", "iu4"], Some(16)),
];

const RDNA4: [Entry; 11] = [
    ("v_wmma_f32_16x16x16_f16", 16, ["f32", "f16", "f16"], Some(16)),
    ("v_wmma_f32_16x16x16_bf16", 16, ["f32", "bf16", "bf16"], Some(16)),
    ("v_wmma_f16_16x16x16_f16", 16, ["f16", "f16", "f16"], Some(16)),
    ("v_wmma_bf16_16x16x16_bf16", 16, ["bf16", "bf16", "bf16"], Some(16)),
    ("v_wmma_f32_16x16x16_fp8_fp8", 16, ["f32", "fp8", "fp8"], Some(8)),
    ("v_wmma_f32_16x16x16_fp8_bf8", 16, ["f32", "fp8", "bf8"], Some(8)),
    ("v_wmma_f32_16x16x16_bf8_fp8", 16, ["f32", "bf8", "fp8"], Some(8)),
    ("v_wmma_f32_16x16x16_bf8_bf8", 16, ["f32", "bf8", "bf8"], Some(8)),
    ("v_wmma_i32_16x16x16_iu8", 16, ["i32", "iu8", "iu8"], Some(8)),
    ("v_wmma_i32_16x16x16_iu4", 16, ["i32", "iu4", "iu4"], Some(8)),
    ("v_wmma_i32_16x16x32_iu4", 32, ["i32", "iu4", "iu4"], Some(8)),
];

const GFX1250: [Entry; 22] = [
    ("v_wmma_f32_16x16x4_f32", 4, ["f32", "f32", "f32"], None),
    ("v_wmma_f32_16x16x32_f16", 32, ["f32", "f16", "f16"], None),
    ("v_wmma_f32_16x16x32_bf16", 32, ["f32", "bf16", "bf16"], None),
    ("v_wmma_f32_16x16x64_fp8_fp8", 64, ["f32", "fp8", "fp8"], None),
    ("v_wmma_f32_16x16x64_fp8_bf8", 64, ["f32", "fp8", "bf8"], None),
    ("v_wmma_f32_16x16x64_bf8_fp8", 64, ["f32", "bf8", "fp8"], None),
    ("v_wmma_f32_16x16x64_bf8_bf8", 64, ["f32", "bf8", "bf8"], None),
    ("v_wmma_f32_16x16x128_fp8_fp8", 128, ["f32", "fp8", "fp8"], None),
    ("v_wmma_f32_16x16x128_fp8_bf8", 128, ["f32", "fp8", "bf8"], None),
    ("v_wmma_f32_16x16x128_bf8_fp8", 128, ["f32", "bf8", "fp8"], None),
    ("v_wmma_f32_16x16x128_bf8_bf8", 128, ["f32", "bf8", "bf8"], None),
    ("v_wmma_f16_16x16x32_f16", 32, ["f16", "f16", "f16"], None),
    ("v_wmma_bf16_16x16x32_bf16", 32, ["bf16", "bf16", "bf16"], None),
    ("v_wmma_f16_16x16x64_fp8_fp8", 64, ["f16", "fp8", "fp8"], None),
    ("v_wmma_f16_16x16x64_fp8_bf8", 64, ["f16", "fp8", "bf8"], None),
    ("v_wmma_f16_16x16x64_bf8_fp8", 64, ["f16", "bf8", "fp8"], None),
    ("v_wmma_f16_16x16x64_bf8_bf8", 64, ["f16", "bf8", "bf8"], None),
    ("v_wmma_f16_16x16x128_fp8_fp8", 128, ["f16", "fp8", "fp8"], None),
    ("v_wmma_f16_16x16x128_fp8_bf8", 128, ["f16", "fp8", "bf8"], None),
    ("v_wmma_f16_16x16x128_bf8_fp8", 128, ["f16", "bf8", "fp8"], None),
    ("v_wmma_f16_16x16x128_bf8_bf8", 128, ["f16", "bf8", "bf8"], None),
    ("v_wmma_i32_16x16x64_iu8", 64, ["i32", "iu8", "iu8"], None),
];

/// A generation of `wmma`, which determines the operand layouts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Generation {
    /// RDNA 3: both groups of 16 lanes hold replicas of an operand; the rows of the result alternate between the halves
    /// of a wave of 32 lanes.
    First,
    /// RDNA 4: the halves of a wave partition an operand's K; the upper half holds rows 8 to 15 of the result.
    Second,
    /// gfx1250: as `Second`, but groups of eight adjacent elements along K (two if K is 4) alternate between the
    /// halves.
    Third,
}

/// Returns the `wmma` instructions of RDNA 3, RDNA 4 or gfx1250; none for other architectures.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    let (generation, entries, lanes, source): (_, &[Entry], &[u32], _) = match architecture {
        "gfx1100" | "gfx1101" | "gfx1102" | "gfx1150" | "gfx1151" => (Generation::First, &RDNA3, &[32, 64], CALCULATED),
        "gfx1200" | "gfx1201" => (Generation::Second, &RDNA4, &[32, 64], CALCULATED),
        "gfx1250" => (Generation::Third, &GFX1250, &[32], PUBLISHED),
        _ => return Vec::new(),
    };
    // All entries of the tables above have valid layouts, so no error is dropped; tests count the instructions.
    let mut rows = Vec::new();
    for &lanes in lanes {
        for &entry in entries {
            rows.extend(variants(entry).filter_map(|entry| generation.row(&entry, lanes, source).ok()));
        }
    }
    rows
}

/// One instruction with chosen modifiers: the entry with its final types, the suffix of the instruction's name, and
/// whether the result saturates.
type Variant = (Entry, String, bool);

/// Returns the variants of an entry: the entry alone for floating-point types, all combinations of modifiers for
/// integers.
fn variants(entry: Entry) -> impl Iterator<Item = Variant> {
    let (name, k, types, cycles) = entry;
    let unsigned = match types[1] {
        "iu8" => Some("u8"),
        "iu4" => Some("u4"),
        _ => None,
    };
    let of = move |a: &'static str, b: &'static str, saturates: bool| {
        let suffix = if [a, b] == [types[1], types[2]] { String::new() } else { format!("({a},{b})") };
        let clamp = if saturates { "(clamp)" } else { "" };
        ((name, k, [types[0], a, b], cycles), suffix + clamp, saturates)
    };
    let mut all = vec![of(types[1], types[2], false)];
    if let Some(unsigned) = unsigned {
        let pairs = [(types[1], unsigned), (unsigned, types[2]), (unsigned, unsigned)];
        all.extend(pairs.map(|(a, b)| of(a, b, false)));
        let saturating = all.iter().map(|&((_, _, [_, a, b], _), ..)| of(a, b, true)).collect::<Vec<_>>();
        all.extend(saturating);
    }
    all.into_iter()
}

impl Generation {
    fn row(self, (entry, suffix, saturates): &Variant, lanes: u32, source: &str) -> Result<Instruction, LayoutError> {
        let &(mnemonic, k, types, cycles) = entry;
        let [mut out, of_a, of_b] = types.map(Element::of);
        if self == Self::First {
            // A 16-bit result occupies the lower half of a 32-bit register.
            out.bits = 32;
        }
        let a = self.operand_spread(k, of_a.bits, lanes).over(1, [SIZE, k])?;
        let b = self.operand_spread(k, of_b.bits, lanes).over(0, [k, SIZE])?;
        let d = self.result(lanes).over(0, [SIZE, SIZE])?;
        let wave = if lanes == 64 { "(wave64)" } else { "" };
        let name = format!("{mnemonic}{suffix}{wave}");
        let numerics = numerics::of("", &name, of_a.name);
        let row = mma_instruction(name, [(out, d), (of_a, a), (of_b, b)], cycles, numerics, source);
        Ok(if *saturates { Instruction { semantics: Semantics::ContractSaturating, ..row } } else { row })
    }

    /// Returns the bases along K of an operand with `k` elements of `bits` bits along K, for `lanes` lanes in a wave.
    fn operand_spread(self, k: u64, bits: u32, lanes: u32) -> Spread {
        let units = |below: u64| (0..below.trailing_zeros()).map(|bit| 1 << bit);
        if self == Self::First {
            let upper = if lanes == 64 { vec![0, 0] } else { vec![0] };
            return Spread { registers: units(k).collect(), upper };
        }
        let run = if self == Self::Third { 8 } else { u64::from(64 / bits) };
        let half = run.min(k / 2);
        let mut spread = Spread { registers: units(k).filter(|&unit| unit != half).collect(), upper: vec![half] };
        if lanes == 64 {
            // Lane bit 5 takes the place of the highest register bit. If an operand fills a single 32-bit register, the
            // upper 32 lanes hold replicas instead.
            let register_bits = spread.registers.len() as u32;
            let quarter = if bits << register_bits > 32 { spread.registers.pop() } else { None };
            spread.upper.push(quarter.unwrap_or(0));
        }
        spread
    }

    /// Returns the bases along M of the result, for `lanes` lanes in a wave.
    pub(super) fn result(self, lanes: u32) -> Spread {
        let (registers, upper): (&[u64], &[u64]) = match (self, lanes) {
            (Self::First, 64) => (&[4, 8], &[1, 2]),
            (Self::First, _) => (&[2, 4, 8], &[1]),
            (_, 64) => (&[1, 2], &[8, 4]),
            _ => (&[1, 2, 4], &[8]),
        };
        Spread { registers: registers.to_vec(), upper: upper.to_vec() }
    }
}

/// Bases of an operand or result along one axis: of the register bits, and of the lane bits from bit 4 on (`upper`).
/// The four low lane bits go along the other axis.
pub(super) struct Spread {
    pub registers: Vec<u64>,
    pub upper: Vec<u64>,
}

impl Spread {
    pub(super) fn over(&self, axis: usize, sizes: [u64; 2]) -> Result<LinearLayout, LayoutError> {
        let at = |axis: usize, coordinate: u64| {
            let mut basis = vec![0, 0];
            basis[axis] = coordinate;
            basis
        };
        let registers: DimBases = self.registers.iter().map(|&unit| at(axis, unit)).collect();
        let lower = [1, 2, 4, 8].map(|unit| at(1 - axis, unit));
        let lanes: DimBases = lower.into_iter().chain(self.upper.iter().map(|&unit| at(axis, unit))).collect();
        let dims = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
        LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &dims)?.require_surjective()
    }
}
