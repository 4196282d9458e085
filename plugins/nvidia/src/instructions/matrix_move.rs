//! `ldmatrix` and `stmatrix`: one, two or four 8x8 matrices of 16-bit elements between registers
//! and shared memory; on some architectures also transposed ones of 8-bit elements.
//!
//! Every row of a matrix is a slot of 16 bytes. The lanes that give a row's address are not those
//! that receive or give its elements.

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics};

const SOURCE: &str = "PTX ISA, ldmatrix and stmatrix: fragment layout and threads that give addresses";

pub(super) fn rows(architecture: &str, capability: u32) -> Vec<Instruction> {
    let loads = (capability >= 75).then_some("ldmatrix");
    let stores = (capability >= 90).then_some("stmatrix");
    let mut rows = Vec::new();
    for name in loads.into_iter().chain(stores) {
        for matrices in [1, 2, 4] {
            for transposed in [false, true] {
                // Three numbers of matrices, each of which makes a layout; tests count the rows.
                rows.extend(row(name, matrices, transposed));
            }
        }
    }
    // What only the processor itself has, and none that follows it.
    if capability >= 100 && architecture.ends_with('a') {
        rows.extend([1, 2].into_iter().filter_map(|matrices| of_bytes("ldmatrix", "m16n16", matrices).ok()));
        rows.extend([1, 2, 4].into_iter().filter_map(|matrices| of_bytes("stmatrix", "m16n8", matrices).ok()));
    }
    rows
}

/// Transposed matrices of 8-bit elements. A 32-bit register holds two neighbouring rows of two columns
/// that are eight apart. A slot is numbered like the lane that addresses it, from top to bottom.
fn of_bytes(name: &str, shape: &str, matrices: u64) -> Result<Instruction, LayoutError> {
    let is_load = name == "ldmatrix";
    // Of a matrix of sixteen rows, a lane's second register has the next two rows; of more matrices, or
    // matrices of eight rows, it has the same rows of the next.
    let (registers, row_step, rows): (Bases, u64, u64) = if is_load {
        let next = (0..matrices.trailing_zeros()).map(|bit| vec![16 << bit, 0]);
        (std::iter::once(vec![2, 0]).chain(next).collect(), 4, 16 * matrices)
    } else {
        ((0..matrices.trailing_zeros()).map(|bit| vec![8 << bit, 0]).collect(), 2, 8 * matrices)
    };
    let lanes: Bases = vec![vec![row_step, 0], vec![2 * row_step, 0], vec![0, 1], vec![0, 2], vec![0, 4]];
    let bytes: Bases = vec![vec![1, 0], vec![0, 8]];
    let elements = bytes.iter().chain(&registers).cloned().collect();
    let fragment = LinearLayout::from_bases(
        &[(Dim::REGISTER, elements), (Dim::LANE, lanes.clone())],
        &[(Dim::tensor(0), rows), (Dim::tensor(1), 16)],
    )?;
    let data = LinearLayout::from_bases(
        &[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::named("byte"), bytes)],
        &[(Dim::named("slot"), rows), (Dim::named("byte"), 16)],
    )?;
    let held = Operand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "b8".to_owned(),
        bits: 8,
        layout: fragment,
    };
    let memory = Operand::Access { data, address: address(rows)?, alignment: 16 };
    Ok(Instruction {
        name: format!("{name}.sync.aligned.{shape}.x{matrices}.trans.shared.b8"),
        kind: InstructionKind::SharedMove,
        operands: if is_load { vec![held, memory] } else { vec![memory, held] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::AtOnce,
        numerics: None,
        source: "PTX ISA, ldmatrix and stmatrix; CUTLASS, copy_traits_sm100.hpp: fragments of 8-bit elements"
            .to_owned(),
    })
}

fn row(name: &str, matrices: u64, transposed: bool) -> Result<Instruction, LayoutError> {
    let is_load = name == "ldmatrix";
    let registers = Operand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "b16".to_owned(),
        bits: 16,
        layout: fragment(matrices, transposed)?,
    };
    let memory = Operand::Access { data: data(matrices, transposed)?, address: address(8 * matrices)?, alignment: 16 };
    let trans = if transposed { ".trans" } else { "" };
    Ok(Instruction {
        name: format!("{name}.sync.aligned.m8n8.x{matrices}{trans}.shared.b16"),
        kind: InstructionKind::SharedMove,
        operands: if is_load { vec![registers, memory] } else { vec![memory, registers] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::AtOnce,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// From (32-bit register, lane, byte of the register) to (slot, byte of the slot).
fn data(matrices: u64, transposed: bool) -> Result<LinearLayout, LayoutError> {
    let (lanes, bytes): (Bases, Bases) = if transposed {
        // A register holds two rows of one column.
        (vec![vec![2, 0], vec![4, 0], vec![0, 2], vec![0, 4], vec![0, 8]], vec![vec![0, 1], vec![1, 0]])
    } else {
        // A register holds two columns of one row.
        (vec![vec![0, 4], vec![0, 8], vec![1, 0], vec![2, 0], vec![4, 0]], vec![vec![0, 1], vec![0, 2]])
    };
    let registers = (0..matrices.trailing_zeros()).map(|bit| vec![8 << bit, 0]).collect();
    LinearLayout::from_bases(
        &[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::named("byte"), bytes)],
        &[(Dim::named("slot"), 8 * matrices), (Dim::named("byte"), 16)],
    )
}

/// From lane to the slot whose address it gives. Lanes beyond the slots give none that is used;
/// they are taken to repeat those of the first lanes.
fn address(slots: u64) -> Result<LinearLayout, LayoutError> {
    let lanes = (0..5).map(|bit| vec![if 1 << bit < slots { 1 << bit } else { 0 }]).collect();
    LinearLayout::from_bases(&[(Dim::LANE, lanes)], &[(Dim::named("slot"), slots)])
}

/// From (16-bit register, lane) to (row, column), the matrices below each other.
fn fragment(matrices: u64, transposed: bool) -> Result<LinearLayout, LayoutError> {
    let halves = data(matrices, transposed)?;
    let in_row = |basis: &Vec<u64>| vec![basis[0], basis[1] / 2];
    let low: Vec<_> = halves.bases_of(Dim::named("byte")).iter().skip(1).map(in_row).collect();
    let registers = low.into_iter().chain(halves.bases_of(Dim::REGISTER).iter().map(in_row)).collect();
    let lanes = halves.bases_of(Dim::LANE).iter().map(in_row).collect();
    LinearLayout::from_bases(
        &[(Dim::REGISTER, registers), (Dim::LANE, lanes)],
        &[(Dim::tensor(0), 8 * matrices), (Dim::tensor(1), 8)],
    )
}
