//! The MMA instruction `dpas` of the systolic array, Intel's matrix unit.
//!
//! Layouts are derived by rule. Of the accumulator and of B, each lane holds one column; a 32-bit register of B has
//! adjacent elements along K. Of A, a row has 256 bits, which lanes share evenly: 32 bits in each of 8 lanes, or 16
//! bits in each of 16. A `tf32` element has 32 bits, so 8 of 16 lanes hold a row, and the other 8 the next. Tests check
//! the layouts against published tables, the vendor's documents and the layout family `dpas`.

use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, MmaNumerics, Semantics};

use crate::families::dpas::neighbours;

const SOURCE: &str = "OpenCL extension cl_intel_subgroup_matrix_multiply_accumulate: elements of each work item";

/// Depth of the systolic array: the number of 32-bit words of elements along K that one instruction multiplies.
const DEPTH: u64 = 8;

/// Element types of d, a, b and c that every architecture supports.
const TYPES: [[&str; 4]; 10] = [
    ["f32", "f16", "f16", "f32"],
    ["f32", "bf16", "bf16", "f32"],
    ["s32", "s8", "s8", "s32"],
    ["s32", "s8", "u8", "s32"],
    ["s32", "u8", "s8", "s32"],
    ["s32", "u8", "u8", "s32"],
    ["s32", "s4", "s4", "s32"],
    ["s32", "s4", "u4", "s32"],
    ["s32", "u4", "s4", "s32"],
    ["s32", "u4", "u4", "s32"],
];

/// Element types of d, a, b and c that only instructions of 16 columns support.
const WIDE_TYPES: [[&str; 4]; 3] =
    [["f16", "f16", "f16", "f16"], ["bf16", "bf16", "bf16", "bf16"], ["f32", "tf32", "tf32", "f32"]];

/// Returns the MMA instructions of an architecture; none for unknown architectures.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    let (columns, more): (u64, &[[&str; 4]]) = match architecture {
        "dg2" => (8, &[]),
        "pvc" | "xe2" => (16, &WIDE_TYPES),
        _ => return Vec::new(),
    };
    let repeats = [1, 2, 4, 8].into_iter();
    let all = repeats.flat_map(|repeat| TYPES.iter().chain(more).map(move |&types| row(repeat, columns, types)));
    // All entries have valid layouts, so no error is dropped; tests count the instructions.
    all.flatten().collect()
}

fn row(repeat: u64, columns: u64, [d, a, b, c]: [&str; 4]) -> Result<Instruction, LayoutError> {
    let register = |role: &str, element: &str, layout| InstructionOperand::Register {
        role: role.to_owned(),
        element: element.to_owned(),
        bits: bits(element),
        layout,
    };
    let packed = u64::from(32 / bits(a));
    Ok(Instruction {
        name: format!("dpas.{DEPTH}x{repeat}.{d}.{a}.{b}.{c}"),
        kind: InstructionKind::Matrix,
        operands: vec![
            register("d", d, result(repeat, columns)?),
            register("a", a, left(repeat, columns, packed)?),
            register("b", b, right(columns, packed)?),
            register("c", c, result(repeat, columns)?),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        // The extension does not specify the order or precision of additions.
        numerics: d.starts_with(['f', 'b']).then(MmaNumerics::default),
        source: SOURCE.to_owned(),
    })
}

fn bits(element: &str) -> u32 {
    match element {
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" => 4,
        _ => 8,
    }
}

/// Returns the layout of the result: each lane holds a column, with a register for each row.
fn result(rows: u64, columns: u64) -> Result<LinearLayout, LayoutError> {
    tile_from_identities(&[0, 1], &[(Dim::LANE, columns, 1), (Dim::REGISTER, rows, 0)])
}

/// Returns the layout of A. A lane holds adjacent elements of a row; lanes go along K, then along the rows; lanes
/// beyond that hold replicas.
fn left(rows: u64, lanes: u64, packed: u64) -> Result<LinearLayout, LayoutError> {
    let together = neighbours(DEPTH, packed, lanes);
    let along_k = DEPTH * packed / together;
    let along_rows = rows.min(lanes / along_k);
    let modes = [
        (Dim::REGISTER, together, 1),
        (Dim::LANE, along_k, 1),
        (Dim::LANE, along_rows, 0),
        (Dim::REGISTER, rows / along_rows, 0),
    ];
    let repeated = LinearLayout::zeros(lanes / along_k / along_rows, Dim::LANE, Dim::tensor(0), 1)?;
    tile_from_identities(&[0, 1], &modes)?.direct_sum(&repeated)
}

/// Returns the layout of B: each lane holds a column, with all of K in its registers.
fn right(columns: u64, packed: u64) -> Result<LinearLayout, LayoutError> {
    tile_from_identities(&[0, 1], &[(Dim::REGISTER, DEPTH * packed, 0), (Dim::LANE, columns, 1)])
}
