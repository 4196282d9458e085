//! `ldmatrix` and `stmatrix`: one, two or four 8x8 matrices of 16-bit elements between registers and shared memory.
//! Some architectures also move transposed matrices of 8-bit elements.
//!
//! Every row of a matrix is a segment, 16 consecutive bytes of shared memory. The lane that gives a segment's address
//! usually does not hold the segment's elements.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

const SOURCE: &str = "PTX ISA, ldmatrix and stmatrix: fragment layout and threads that provide addresses";

pub(super) fn rows(architecture: &str, capability: u32) -> Vec<Instruction> {
    let loads = (capability >= 75).then_some("ldmatrix");
    let stores = (capability >= 90).then_some("stmatrix");
    let mut rows = Vec::new();
    for name in loads.into_iter().chain(stores) {
        for matrices in [1, 2, 4] {
            for transposed in [false, true] {
                // Each of the three matrix counts has a valid layout, so no error is dropped; tests count the
                // instructions.
                rows.extend(row(name, matrices, transposed));
            }
        }
    }
    // Only architecture-specific targets such as `sm_100a` have these instructions.
    if capability >= 100 && architecture.ends_with('a') {
        rows.extend([1, 2].into_iter().filter_map(|matrices| of_bytes("ldmatrix", "m16n16", matrices).ok()));
        rows.extend([1, 2, 4].into_iter().filter_map(|matrices| of_bytes("stmatrix", "m16n8", matrices).ok()));
    }
    rows
}

/// Returns the instruction `name` (`ldmatrix` or `stmatrix`) for transposed `shape` matrices of 8-bit elements. A
/// 32-bit register holds two adjacent rows of two columns that are eight apart. Segments (16-byte rows in shared
/// memory) are numbered by the lane that addresses them, from top to bottom.
fn of_bytes(name: &str, shape: &str, matrices: u64) -> Result<Instruction, LayoutError> {
    let is_load = name == "ldmatrix";
    // In a matrix of sixteen rows, a lane's second register holds the next two rows. With more matrices, or matrices of
    // eight rows, it holds the same rows of the next matrix.
    let (registers, row_step, rows): (DimBases, u64, u64) = if is_load {
        let next = (0..matrices.trailing_zeros()).map(|bit| vec![16 << bit, 0]);
        (std::iter::once(vec![2, 0]).chain(next).collect(), 4, 16 * matrices)
    } else {
        ((0..matrices.trailing_zeros()).map(|bit| vec![8 << bit, 0]).collect(), 2, 8 * matrices)
    };
    let lanes: DimBases = vec![vec![row_step, 0], vec![2 * row_step, 0], vec![0, 1], vec![0, 2], vec![0, 4]];
    let bytes: DimBases = vec![vec![1, 0], vec![0, 8]];
    let elements = bytes.iter().chain(&registers).cloned().collect();
    let fragment = LinearLayout::from_bases(
        &[(Dim::REGISTER, elements), (Dim::LANE, lanes.clone())],
        &[(Dim::tensor(0), rows), (Dim::tensor(1), 16)],
    )?;
    let data = LinearLayout::from_bases(
        &[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::named("byte"), bytes)],
        &[(Dim::named("slot"), rows), (Dim::named("byte"), 16)],
    )?;
    let register_operand = InstructionOperand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "b8".to_owned(),
        bits: 8,
        layout: fragment,
    };
    let memory = InstructionOperand::Access { data, address: address(rows)?, alignment: 16 };
    Ok(Instruction {
        name: format!("{name}.sync.aligned.{shape}.x{matrices}.trans.shared.b8"),
        kind: InstructionKind::SharedMove,
        operands: if is_load { vec![register_operand, memory] } else { vec![memory, register_operand] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: "PTX ISA, ldmatrix and stmatrix; CUTLASS, copy_traits_sm100.hpp: fragments of 8-bit elements"
            .to_owned(),
    })
}

fn row(name: &str, matrices: u64, transposed: bool) -> Result<Instruction, LayoutError> {
    let is_load = name == "ldmatrix";
    let registers = InstructionOperand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "b16".to_owned(),
        bits: 16,
        layout: fragment(matrices, transposed)?,
    };
    let memory = InstructionOperand::Access {
        data: data(matrices, transposed)?,
        address: address(8 * matrices)?,
        alignment: 16,
    };
    let trans = if transposed { ".trans" } else { "" };
    Ok(Instruction {
        name: format!("{name}.sync.aligned.m8n8.x{matrices}{trans}.shared.b16"),
        kind: InstructionKind::SharedMove,
        operands: if is_load { vec![registers, memory] } else { vec![memory, registers] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// Returns the map from (32-bit register, lane, byte of the register) to (segment, byte of the segment). A segment is a
/// 16-byte row in shared memory.
fn data(matrices: u64, transposed: bool) -> Result<LinearLayout, LayoutError> {
    let (lanes, bytes): (DimBases, DimBases) = if transposed {
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

/// Returns the map from a lane to the segment (16-byte row) whose address it gives. Lanes beyond the number of segments
/// repeat the first lanes; their addresses are unused.
fn address(segments: u64) -> Result<LinearLayout, LayoutError> {
    let lanes = (0..5).map(|bit| vec![if 1 << bit < segments { 1 << bit } else { 0 }]).collect();
    LinearLayout::from_bases(&[(Dim::LANE, lanes)], &[(Dim::named("slot"), segments)])
}

/// Returns the layout of the matrices in registers: (16-bit register, lane) to (row, column), with the matrices stacked
/// along the rows.
fn fragment(matrices: u64, transposed: bool) -> Result<LinearLayout, LayoutError> {
    let memory_rows = data(matrices, transposed)?;
    let in_row = |basis: &Vec<u64>| vec![basis[0], basis[1] / 2];
    let low: Vec<_> = memory_rows.bases_of(Dim::named("byte")).iter().skip(1).map(in_row).collect();
    let registers = low.into_iter().chain(memory_rows.bases_of(Dim::REGISTER).iter().map(in_row)).collect();
    let lanes = memory_rows.bases_of(Dim::LANE).iter().map(in_row).collect();
    LinearLayout::from_bases(
        &[(Dim::REGISTER, registers), (Dim::LANE, lanes)],
        &[(Dim::tensor(0), 8 * matrices), (Dim::tensor(1), 8)],
    )
}
