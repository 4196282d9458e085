//! `wgmma`: the product of two matrices by four warps together, the second factor in shared memory, the
//! first there or in registers.
//!
//! How a factor may lie in shared memory is said by canonical layouts: rows of 16, 32, 64 or 128 bytes along K
//! ("K-major") or along the other axis ("MN-major", for 16-bit elements only), eight of which are a block that
//! repeats by strides that the descriptor says.

use super::numerics;
use tilewright::layout::families::cluster::tile_of;
use tilewright::layout::{Dim, LayoutError, LinearLayout};
use tilewright::target::{
    Arrangement, Completion, Descriptor, Field, Instruction, InstructionKind, MemoryOperand, Mix, Operand, Queue,
    Semantics, Step, Stride,
};

const SOURCE: &str = "PTX ISA, asynchronous warpgroup-level matrix instructions: register fragments, shared memory matrix layout, matrix descriptor";

/// Rows of the result of one instruction: 16 for each warp.
const ROWS: u64 = 64;

/// Bytes of K of one instruction.
const K_BYTES: u64 = 32;

/// Numbers of the descriptor's strides.
const LEADING: u32 = 0;
const STRIDE: u32 = 1;

/// Where a factor lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// In registers.
    Held,
    /// In shared memory, K contiguous.
    AlongK,
    /// In shared memory, the other axis contiguous.
    AcrossK,
}

/// Types of d, a and b that go together.
const TYPES: [[&str; 3]; 16] = [
    ["f32", "f16", "f16"],
    ["f16", "f16", "f16"],
    ["f32", "bf16", "bf16"],
    ["f32", "tf32", "tf32"],
    ["f32", "e4m3", "e4m3"],
    ["f32", "e4m3", "e5m2"],
    ["f32", "e5m2", "e4m3"],
    ["f32", "e5m2", "e5m2"],
    ["f16", "e4m3", "e4m3"],
    ["f16", "e4m3", "e5m2"],
    ["f16", "e5m2", "e4m3"],
    ["f16", "e5m2", "e5m2"],
    ["s32", "s8", "s8"],
    ["s32", "s8", "u8"],
    ["s32", "u8", "s8"],
    ["s32", "u8", "u8"],
];

/// The rows of an architecture: only `sm_90a` has any.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "sm_90a" {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for types in TYPES {
        for columns in columns() {
            for sides in sides(bits(types[1])) {
                // A row that is no layout would be a mistake here; tests count the rows.
                rows.extend(row(types, columns, sides).ok());
            }
        }
    }
    rows
}

/// Columns of the result that are powers of two.
fn columns() -> impl Iterator<Item = u64> {
    (3..=8).map(|bits| 1 << bits)
}

/// Where the factors may lie. Only elements of 16 bits may lie across K.
fn sides(bits: u32) -> Vec<[Side; 2]> {
    let in_memory: &[Side] = if bits == 16 { &[Side::AlongK, Side::AcrossK] } else { &[Side::AlongK] };
    let first = in_memory.iter().chain(&[Side::Held]);
    first.flat_map(|&a| in_memory.iter().map(move |&b| [a, b])).collect()
}

fn row([d, a, b]: [&str; 3], columns: u64, [side_a, side_b]: [Side; 2]) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(bits(a));
    let register = |role: &str, element: &str, layout| Operand::Register {
        role: role.to_owned(),
        element: element.to_owned(),
        bits: bits(element),
        layout,
    };
    let told = Told { descriptor: descriptor(), mode };
    let first = match side_a {
        Side::Held => register("a", a, held(k, bits(a))?),
        side => Operand::Memory(memory("a", a, [ROWS, k], side, &told)),
    };
    let letter = |side| match side {
        Side::AlongK => "k",
        Side::AcrossK => "m",
        Side::Held => "",
    };
    let form = if side_a == Side::Held { "rs" } else { "ss" };
    Ok(Instruction {
        name: format!(
            "wgmma.mma_async.sync.aligned.m{ROWS}n{columns}k{k}.{d}.{a}.{b}.{form}.{}{}",
            letter(side_a),
            letter(side_b)
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            register("d", d, result(columns)?),
            first,
            Operand::Memory(memory("b", b, [k, columns], side_b, &told)),
            register("c", d, result(columns)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Products),
        numerics: numerics::of_group(a, bits(a)),
        source: SOURCE.to_owned(),
    })
}

pub(super) fn bits(element: &str) -> u32 {
    match element {
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

/// Two neighbouring columns a lane, four lanes a row, eight rows at a time; sixteen rows a warp.
fn result(columns: u64) -> Result<LinearLayout, LayoutError> {
    let parts = [
        (Dim::REGISTER, 2, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, 2, 0),
        (Dim::REGISTER, columns / 8, 1),
        (Dim::WARP, 4, 0),
    ];
    tile_of(&[1, 0], &parts)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// The first factor in registers: four lanes along K, eight along the rows; sixteen rows a warp.
fn held(k: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = u64::from(32 / bits);
    let parts = [
        (Dim::REGISTER, width, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, 2, 0),
        (Dim::REGISTER, k / width / 4, 1),
        (Dim::WARP, 4, 0),
    ];
    tile_of(&[0, 1], &parts)
}

/// How an instruction is told where a factor lies: the mode of each width of swizzle is its own.
pub(super) struct Told {
    pub descriptor: Descriptor,
    pub mode: fn(u64) -> u64,
}

/// A factor in shared memory.
pub(super) fn memory(role: &str, element: &str, shape: [u64; 2], side: Side, told: &Told) -> MemoryOperand {
    let k_axis = if role == "a" { 1 } else { 0 };
    let (k, other) = (shape[k_axis], shape[1 - k_axis]);
    let bytes = u64::from(bits(element) / 8);
    let widths = [128, 64, 32, 0].into_iter();
    let arrangement = |width: u64| {
        let (along_k, across) = match side {
            Side::AcrossK => across_k(width, bytes, k, other),
            _ => along_k(width, bytes, k, other),
        };
        let axes = if k_axis == 0 { [along_k, across] } else { [across, along_k] };
        Arrangement {
            name: if width == 0 { "no swizzle".to_owned() } else { format!("swizzle of {width} bytes") },
            mode: (told.mode)(width),
            axes,
            // Units of 16 bytes are permuted by the number of 128 bytes.
            mix: Mix { shift: 3, mask: (width.max(16) / 16 - 1) << 4 },
            alignment: 8 * width.max(16) as u32,
        }
    };
    MemoryOperand {
        role: role.to_owned(),
        element: element.to_owned(),
        bits: bits(element),
        shape,
        // Across K, whole rows of the swizzle lie in the tile.
        arrangements: widths.filter(|width| side == Side::AlongK || width / bytes <= other).map(arrangement).collect(),
        descriptor: told.descriptor.clone(),
    }
}

/// The matrix descriptor: addresses and offsets without their lowest four bits.
fn descriptor() -> Descriptor {
    let bytes = |at| Field { at, width: 14, grain: 16 };
    Descriptor {
        bits: 64,
        start: bytes(0),
        strides: vec![bytes(16), bytes(32)],
        mode: Field { at: 62, width: 2, grain: 1 },
        fixed: 0,
    }
}

fn mode(width: u64) -> u64 {
    match width {
        128 => 1,
        64 => 2,
        32 => 3,
        _ => 0,
    }
}

fn fixed(count: u64, bytes: u64) -> Step {
    Step { count, stride: Stride::Bytes(bytes) }
}

fn free(count: u64, field: u32) -> Step {
    Step { count, stride: Stride::Free(field) }
}

/// Steps along K and across it, of rows along K.
fn along_k(width: u64, bytes: u64, k: u64, other: u64) -> (Vec<Step>, Vec<Step>) {
    let unit = 16 / bytes;
    match width {
        0 => (vec![fixed(unit, bytes), free(k / unit, LEADING)], vec![fixed(8, 16), free(other / 8, STRIDE)]),
        _ => (vec![fixed(k, bytes)], vec![fixed(8, width), free(other / 8, STRIDE)]),
    }
}

/// Steps along K and across it, of rows across K.
fn across_k(width: u64, bytes: u64, k: u64, other: u64) -> (Vec<Step>, Vec<Step>) {
    let row = width.max(16) / bytes;
    match width {
        0 => (vec![fixed(8, 16), free(k / 8, LEADING)], vec![fixed(row, bytes), free(other / row, STRIDE)]),
        _ => (vec![fixed(8, width), free(k / 8, STRIDE)], vec![fixed(row, bytes), free(other / row, LEADING)]),
    }
}
