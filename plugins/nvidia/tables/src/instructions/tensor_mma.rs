//! `tcgen05.mma` of one block: an MMA whose accumulator is in tensor memory. Operand B is in shared memory; operand A
//! is in shared memory, or in the same rows of tensor memory as the accumulator.
//!
//! Operands in shared memory have the canonical layouts of `wgmma`, but a descriptor with other fields. Types, sizes
//! and majorness are in the instruction descriptor, a 32-bit word that is constant for each instruction. Block-scaled
//! MMAs are in [`super::tensor_scaled`], unlisted forms in [`super::omitted_instructions_of`].

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, DescriptorField, Instruction, InstructionKind, InstructionOperand, Queue, Semantics,
    TensorMemoryOperand,
};

use super::numerics;
use super::smem_operand::{DescriptorEncoding, OperandLocation, bits, descriptor, memory};

const SOURCE: &str =
    "PTX ISA, tcgen05: matrix shapes, data path layout organization, shared memory descriptor, instruction descriptor";

/// Bytes along K that one instruction multiplies.
const K_BYTES: u64 = 32;

/// Value of the version field of the matrix descriptor that `tcgen05` requires, shifted into place.
const VERSION: u64 = 1 << 46;

/// The kind of an MMA, and a combination of element types of d, a and b that the kind supports.
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

/// Whether an architecture has tensor memory: only `sm_100a` and `sm_103a`.
pub(super) fn has_tensor_memory(architecture: &str) -> bool {
    matches!(architecture, "sm_100a" | "sm_103a")
}

/// Whether an architecture has integer MMAs in tensor memory.
fn has_integers(architecture: &str) -> bool {
    architecture == "sm_100a"
}

/// Returns the one-block MMAs without scales of an architecture; none if it has no tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !has_tensor_memory(architecture) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (kind, types) in TYPES.iter().filter(|(kind, _)| *kind != "i8" || has_integers(architecture)) {
        for (height, least) in [(128u64, 4), (64, 3)] {
            for columns in (least..=8).map(|bits| 1 << bits) {
                let lie: &[OperandLocation] = if bits(types[1]) == 16 {
                    &[OperandLocation::KMajor, OperandLocation::MnMajor]
                } else {
                    &[OperandLocation::KMajor]
                };
                let first = lie.iter().chain(&[OperandLocation::NotShared]);
                for sides in first.flat_map(|&a| lie.iter().map(move |&b| [a, b])) {
                    // All these layouts are valid, so no error is dropped; tests count the instructions.
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
    sides: [OperandLocation; 2],
) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(bits(a));
    let letter = |side| match side {
        OperandLocation::KMajor => "k",
        OperandLocation::MnMajor => "m",
        OperandLocation::NotShared => "",
    };
    let form = if sides[0] == OperandLocation::NotShared { "ts" } else { "ss" };
    let encoding = encoding();
    let accumulator = TensorMemoryOperand {
        role: "d".to_owned(),
        element: d.to_owned(),
        // Accumulators of 16 bits occupy a 32-bit column each.
        bits: 32,
        layout: in_rows(height, columns)?,
        copies: vec![],
    };
    let first = match sides[0] {
        OperandLocation::NotShared => InstructionOperand::Tensor(TensorMemoryOperand {
            role: "a".to_owned(),
            element: a.to_owned(),
            bits: bits(a),
            layout: in_rows(height, k)?,
            copies: vec![],
        }),
        side => InstructionOperand::Memory(memory("a", a, [height, k], side, &encoding)),
    };
    Ok(Instruction {
        name: format!(
            "tcgen05.mma.cta_group::1.kind::{kind}.m{height}n{columns}k{k}.{d}.{a}.{b}.{form}.{}{}",
            letter(sides[0]),
            letter(sides[1])
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            InstructionOperand::Tensor(accumulator),
            first,
            InstructionOperand::Memory(memory("b", b, [k, columns], sides[1], &encoding)),
            InstructionOperand::Constant {
                role: "descriptor".to_owned(),
                bits: 32,
                value: instruction_descriptor([d, a, b], [height, columns], sides),
            },
            InstructionOperand::Accumulate,
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Mma),
        numerics: numerics::in_tensor_memory(a, bits(a)),
        source: SOURCE.to_owned(),
    })
}

/// Returns the matrix descriptor's format and swizzle modes, for operands in shared memory.
pub(super) fn encoding() -> DescriptorEncoding {
    DescriptorEncoding { descriptor: descriptor(DescriptorField { at: 61, width: 3, granularity: 1 }, VERSION), mode }
}

/// Returns the layout of an accumulator, or of A, in tensor memory: row i of the matrix is row i of tensor memory, and
/// columns are adjacent. A matrix of 64 rows puts sixteen rows in the first half of each warp's 32 rows.
pub(super) fn in_rows(height: u64, columns: u64) -> Result<LinearLayout, LayoutError> {
    let mut rows: DimBases = (0..height.trailing_zeros()).map(|bit| vec![1 << bit, 0]).collect();
    if height == 64 {
        rows.insert(4, vec![0, 0]);
    }
    let along: DimBases = (0..columns.trailing_zeros()).map(|bit| vec![0, 1 << bit]).collect();
    let sizes = [(Dim::tensor(0), height), (Dim::tensor(1), columns)];
    LinearLayout::from_bases(&[(Dim::ROW, rows), (Dim::COL, along)], &sizes)
}

/// Returns the value of the descriptor's swizzle field for a swizzle width in bytes.
fn mode(width: u64) -> u64 {
    match width {
        128 => 2,
        64 => 4,
        32 => 6,
        _ => 0,
    }
}

/// Returns the instruction descriptor, a 32-bit word that encodes the element types, M and N, and which operands are
/// MN-major.
fn instruction_descriptor([d, a, b]: [&str; 3], [height, columns]: [u64; 2], sides: [OperandLocation; 2]) -> u64 {
    let sum = match d {
        "f16" => 0,
        "f32" => 1,
        _ => 2,
    };
    let type_code = |element: &str| match element {
        "bf16" | "e5m2" | "s8" => 1,
        "tf32" => 2,
        _ => 0,
    };
    let across = |side| u64::from(side == OperandLocation::MnMajor);
    sum << 4
        | type_code(a) << 7
        | type_code(b) << 10
        | across(sides[0]) << 15
        | across(sides[1]) << 16
        | (columns >> 3) << 17
        | (height >> 4) << 24
}
