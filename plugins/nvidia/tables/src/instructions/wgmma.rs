//! `wgmma`: an MMA by a warpgroup. Operand B is in shared memory, operand A in shared memory or in registers.
//!
//! Operands in shared memory have canonical layouts: rows of 16, 32, 64 or 128 bytes along K ("K-major") or, for 16-bit
//! elements only, along the other axis ("MN-major"). Eight rows form a block; the descriptor's strides give the
//! distances of the blocks.
//!
//! N is a multiple of eight; for integers from 32 on it is a multiple of sixteen. If N is no power of two, registers
//! have the layout of the next power of two, and the instruction uses the first N columns of it.

use super::numerics;
use super::smem_operand::{DescriptorEncoding, OperandLocation, bits, descriptor, memory};
use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, DescriptorField, Instruction, InstructionKind, InstructionOperand, Queue, Semantics,
};

const SOURCE: &str = "PTX ISA, asynchronous warpgroup-level matrix instructions: register fragments, shared memory matrix layout, matrix descriptor";

/// Number of rows of one instruction's result: 16 for each of the four warps.
const ROWS: u64 = 64;

/// Bytes along K that one instruction multiplies.
const K_BYTES: u64 = 32;

/// Element types of d, a and b that one instruction supports together. MMAs of single bits count the positions at which
/// both bits are set.
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

/// Returns the warpgroup MMAs of an architecture; only `sm_90a` has any.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "sm_90a" {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for types in TYPES {
        for columns in (8..=256).step_by(8).filter(|&columns| has_columns(types[0], columns)) {
            for sides in sides(bits(types[1])) {
                // All these layouts are valid, so no error is dropped; tests count the instructions.
                let Ok(row) = row(types, columns, sides) else { continue };
                let saturating = (bits(types[1]) == 8 && types[0] == "s32").then(|| saturating(&row));
                rows.push(row);
                rows.extend(saturating);
            }
        }
    }
    rows
}

/// Whether `wgmma` exists with N = `columns`, a multiple of eight, for the result type `result`. Integer results
/// (`s32`) with N above 32 need a multiple of sixteen.
pub(super) fn has_columns(result: &str, columns: u64) -> bool {
    result != "s32" || columns <= 32 || columns.is_multiple_of(16)
}

/// Returns the variant of an integer instruction whose accumulator saturates.
fn saturating(row: &Instruction) -> Instruction {
    let name_fields = row.name.rsplitn(3, '.').collect::<Vec<_>>();
    let [lie, form, mnemonic] = name_fields[..] else { return row.clone() };
    let name = format!("{mnemonic}.satfinite.{form}.{lie}");
    Instruction { name, semantics: Semantics::ContractSaturating, ..row.clone() }
}

/// Returns the possible locations of A and B. Operands in shared memory may be MN-major only if elements have 16 bits.
fn sides(bits: u32) -> Vec<[OperandLocation; 2]> {
    let in_memory: &[OperandLocation] =
        if bits == 16 { &[OperandLocation::KMajor, OperandLocation::MnMajor] } else { &[OperandLocation::KMajor] };
    let first = in_memory.iter().chain(&[OperandLocation::NotShared]);
    first.flat_map(|&a| in_memory.iter().map(move |&b| [a, b])).collect()
}

fn row([d, a, b]: [&str; 3], columns: u64, [side_a, side_b]: [OperandLocation; 2]) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(bits(a));
    let register = |role: &str, element: &str, layout| InstructionOperand::Register {
        role: role.to_owned(),
        element: element.to_owned(),
        bits: bits(element),
        layout,
    };
    let encoding =
        DescriptorEncoding { descriptor: descriptor(DescriptorField { at: 62, width: 2, granularity: 1 }, 0), mode };
    let first = match side_a {
        OperandLocation::NotShared => register("a", a, a_in_registers(k, bits(a))?),
        side => InstructionOperand::Memory(memory("a", a, [ROWS, k], side, &encoding)),
    };
    let letter = |side| match side {
        OperandLocation::KMajor => "k",
        OperandLocation::MnMajor => "m",
        OperandLocation::NotShared => "",
    };
    let form = if side_a == OperandLocation::NotShared { "rs" } else { "ss" };
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
            InstructionOperand::Memory(memory("b", b, [k, columns], side_b, &encoding)),
            register("c", d, result(enclosing)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Mma),
        numerics: numerics::of_group(a, bits(a)),
        source: SOURCE.to_owned(),
    })
}

/// Returns the accumulator's layout: a lane holds two adjacent columns, four lanes cover a row, eight rows at a time,
/// and each of the four warps has sixteen rows.
fn result(columns: u64) -> Result<LinearLayout, LayoutError> {
    let modes = [
        (Dim::REGISTER, 2, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, 2, 0),
        (Dim::REGISTER, columns / 8, 1),
        (Dim::WARP, 4, 0),
    ];
    tile_from_identities(&[1, 0], &modes)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// Returns the layout of A in registers: four lanes go along K, eight along the rows, and each of the four warps has
/// sixteen rows.
fn a_in_registers(k: u64, bits: u32) -> Result<LinearLayout, LayoutError> {
    let width = u64::from(32 / bits);
    let modes = [
        (Dim::REGISTER, width, 1),
        (Dim::LANE, 4, 1),
        (Dim::LANE, 8, 0),
        (Dim::REGISTER, 2, 0),
        (Dim::REGISTER, k / width / 4, 1),
        (Dim::WARP, 4, 0),
    ];
    tile_from_identities(&[0, 1], &modes)
}

/// Returns the value of the descriptor's swizzle field for a swizzle width in bytes.
fn mode(width: u64) -> u64 {
    match width {
        128 => 1,
        64 => 2,
        32 => 3,
        _ => 0,
    }
}
