//! `wgmma`: the product of two matrices by four warps together, the second factor in shared memory, the
//! first there or in registers.
//!
//! How a factor may lie in shared memory is said by canonical layouts: rows of 16, 32, 64 or 128 bytes along K
//! ("K-major") or along the other axis ("MN-major", for 16-bit elements only), eight of which are a block that
//! repeats by strides that the descriptor says.
//!
//! N is a multiple of eight, of integers from 32 on one of sixteen. Where it is no power of two, registers have the
//! layouts of the power of two above it, of which the instruction takes the first.

use super::factor::{Side, Told, bits, descriptor, memory};
use super::numerics;
use tilewright_layout::families::cluster::tile_of;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Field, Instruction, InstructionKind, Operand, Queue, Semantics};

const SOURCE: &str = "PTX ISA, asynchronous warpgroup-level matrix instructions: register fragments, shared memory matrix layout, matrix descriptor";

/// Rows of the result of one instruction: 16 for each warp.
const ROWS: u64 = 64;

/// Bytes of K of one instruction.
const K_BYTES: u64 = 32;

/// Types of d, a and b that go together. Of single bits those that both have are counted.
const TYPES: [[&str; 3]; 17] = [
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
    ["s32", "b1", "b1"],
];

/// The rows of an architecture: only `sm_90a` has any.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "sm_90a" {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for types in TYPES {
        for columns in (8..=256).step_by(8).filter(|&columns| has_columns(types[0], columns)) {
            for sides in sides(bits(types[1])) {
                // A row that is no layout would be a mistake here; tests count the rows.
                let Ok(row) = row(types, columns, sides) else { continue };
                let saturating = (bits(types[1]) == 8 && types[0] == "s32").then(|| saturating(&row));
                rows.push(row);
                rows.extend(saturating);
            }
        }
    }
    rows
}

/// Whether results of a type have so many columns, a multiple of eight.
pub(super) fn has_columns(result: &str, columns: u64) -> bool {
    result != "s32" || columns <= 32 || columns.is_multiple_of(16)
}

/// The row whose sums saturate.
fn saturating(row: &Instruction) -> Instruction {
    let parts = row.name.rsplitn(3, '.').collect::<Vec<_>>();
    let [lie, form, mnemonic] = parts[..] else { return row.clone() };
    let name = format!("{mnemonic}.satfinite.{form}.{lie}");
    Instruction { name, semantics: Semantics::ContractSaturating, ..row.clone() }
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
    let told = Told { descriptor: descriptor(Field { at: 62, width: 2, grain: 1 }, 0), mode };
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
    let kind = if a == "b1" { "and.popc." } else { "" };
    let enclosing = columns.next_power_of_two();
    Ok(Instruction {
        name: format!(
            "wgmma.mma_async.sync.aligned.m{ROWS}n{columns}k{k}.{d}.{a}.{b}.{kind}{form}.{}{}",
            letter(side_a),
            letter(side_b)
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            register("d", d, result(enclosing)?),
            first,
            Operand::Memory(memory("b", b, [k, columns], side_b, &told)),
            register("c", d, result(enclosing)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Products),
        numerics: numerics::of_group(a, bits(a)),
        source: SOURCE.to_owned(),
    })
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

/// The mode of a width of swizzle.
fn mode(width: u64) -> u64 {
    match width {
        128 => 1,
        64 => 2,
        32 => 3,
        _ => 0,
    }
}
