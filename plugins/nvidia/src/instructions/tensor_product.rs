//! `tcgen05.mma` of one block: the product of two matrices, its sums in tensor memory. The second factor is in shared
//! memory, the first there or in tensor memory, where it lies in the rows of the sums.
//!
//! Factors lie in shared memory in the same canonical layouts as for `wgmma`, told by a descriptor of other fields.
//! What else the hardware must know, types, sizes and which way factors lie, is the instruction descriptor, a word that is
//! the same wherever the instruction is issued. Factors with scales are in [`super::tensor_scaled`], what is not listed in
//! [`super::unused`].

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Field, Instruction, InstructionKind, Operand, Queue, Semantics, TensorOperand};

use super::factor::{Side, Told, bits, descriptor, memory};
use super::numerics;

const SOURCE: &str =
    "PTX ISA, tcgen05: matrix shapes, data path layout organization, shared memory descriptor, instruction descriptor";

/// Bytes of K of one instruction.
const K_BYTES: u64 = 32;

/// The descriptor's version.
const VERSION: u64 = 1 << 46;

/// Types of d, a and b that go together, and the kind that has them.
const TYPES: [(&str, [&str; 3]); 16] = [
    ("f16", ["f32", "f16", "f16"]),
    ("f16", ["f16", "f16", "f16"]),
    ("f16", ["f32", "bf16", "bf16"]),
    ("tf32", ["f32", "tf32", "tf32"]),
    ("f8f6f4", ["f32", "e4m3", "e4m3"]),
    ("f8f6f4", ["f32", "e4m3", "e5m2"]),
    ("f8f6f4", ["f32", "e5m2", "e4m3"]),
    ("f8f6f4", ["f32", "e5m2", "e5m2"]),
    ("f8f6f4", ["f16", "e4m3", "e4m3"]),
    ("f8f6f4", ["f16", "e4m3", "e5m2"]),
    ("f8f6f4", ["f16", "e5m2", "e4m3"]),
    ("f8f6f4", ["f16", "e5m2", "e5m2"]),
    ("i8", ["s32", "s8", "s8"]),
    ("i8", ["s32", "s8", "u8"]),
    ("i8", ["s32", "u8", "s8"]),
    ("i8", ["s32", "u8", "u8"]),
];

/// Whether an architecture has tensor memory: `sm_100a` and its kin, none that follows.
pub(super) fn has_tensor_memory(architecture: &str) -> bool {
    matches!(architecture, "sm_100a" | "sm_103a")
}

/// Whether it multiplies integers so, too.
fn has_integers(architecture: &str) -> bool {
    architecture == "sm_100a"
}

/// The rows of an architecture.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !has_tensor_memory(architecture) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (kind, types) in TYPES.iter().filter(|(kind, _)| *kind != "i8" || has_integers(architecture)) {
        for (height, least) in [(128u64, 4), (64, 3)] {
            for columns in (least..=8).map(|bits| 1 << bits) {
                let lie: &[Side] = if bits(types[1]) == 16 { &[Side::AlongK, Side::AcrossK] } else { &[Side::AlongK] };
                let first = lie.iter().chain(&[Side::Held]);
                for sides in first.flat_map(|&a| lie.iter().map(move |&b| [a, b])) {
                    // A row that is no layout would be a mistake here; tests count the rows.
                    rows.extend(row(kind, *types, [height, columns], sides).ok());
                }
            }
        }
    }
    rows
}

fn row(
    kind: &str,
    [d, a, b]: [&str; 3],
    [height, columns]: [u64; 2],
    sides: [Side; 2],
) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(bits(a));
    let letter = |side| match side {
        Side::AlongK => "k",
        Side::AcrossK => "m",
        Side::Held => "",
    };
    let form = if sides[0] == Side::Held { "ts" } else { "ss" };
    let told = told();
    let accumulator = TensorOperand {
        role: "d".to_owned(),
        element: d.to_owned(),
        // Sums of 16 bits have a column each, too.
        bits: 32,
        layout: in_rows(height, columns)?,
        copies: vec![],
    };
    let first = match sides[0] {
        Side::Held => Operand::Tensor(TensorOperand {
            role: "a".to_owned(),
            element: a.to_owned(),
            bits: bits(a),
            layout: in_rows(height, k)?,
            copies: vec![],
        }),
        side => Operand::Memory(memory("a", a, [height, k], side, &told)),
    };
    Ok(Instruction {
        name: format!(
            "tcgen05.mma.cta_group::1.kind::{kind}.m{height}n{columns}k{k}.{d}.{a}.{b}.{form}.{}{}",
            letter(sides[0]),
            letter(sides[1])
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            Operand::Tensor(accumulator),
            first,
            Operand::Memory(memory("b", b, [k, columns], sides[1], &told)),
            Operand::Constant {
                role: "descriptor".to_owned(),
                bits: 32,
                value: instruction_descriptor([d, a, b], [height, columns], sides),
            },
            Operand::Accumulate,
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Products),
        numerics: numerics::in_tensor_memory(a, bits(a)),
        source: SOURCE.to_owned(),
    })
}

/// How a factor in shared memory is told of.
pub(super) fn told() -> Told {
    Told { descriptor: descriptor(Field { at: 61, width: 3, grain: 1 }, VERSION), mode }
}

/// Rows of the sums, and of the first factor, are rows of tensor memory; of 64, each warp has sixteen, in the first half of
/// its own. Columns are side by side.
pub(super) fn in_rows(height: u64, columns: u64) -> Result<LinearLayout, LayoutError> {
    let mut rows: Bases = (0..height.trailing_zeros()).map(|bit| vec![1 << bit, 0]).collect();
    if height == 64 {
        rows.insert(4, vec![0, 0]);
    }
    let along: Bases = (0..columns.trailing_zeros()).map(|bit| vec![0, 1 << bit]).collect();
    let sizes = [(Dim::tensor(0), height), (Dim::tensor(1), columns)];
    LinearLayout::from_bases(&[(Dim::ROW, rows), (Dim::COL, along)], &sizes)
}

/// The mode of a width of swizzle.
fn mode(width: u64) -> u64 {
    match width {
        128 => 2,
        64 => 4,
        32 => 6,
        _ => 0,
    }
}

/// The word that says types and sizes, and which factors lie across K.
fn instruction_descriptor([d, a, b]: [&str; 3], [height, columns]: [u64; 2], sides: [Side; 2]) -> u64 {
    let sum = match d {
        "f16" => 0,
        "f32" => 1,
        _ => 2,
    };
    let factor = |element: &str| match element {
        "bf16" | "e5m2" | "s8" => 1,
        "tf32" => 2,
        _ => 0,
    };
    let across = |side| u64::from(side == Side::AcrossK);
    sum << 4
        | factor(a) << 7
        | factor(b) << 10
        | across(sides[0]) << 15
        | across(sides[1]) << 16
        | (columns >> 3) << 17
        | (height >> 4) << 24
}
