//! 2-D block loads from global memory to registers: plain, transposed, and with rows packed as in MMA operands (VNNI).

use tilewright_layout::families::cluster::tile_from_identities;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

use super::block;

const SOURCE: &str = "OpenCL extension cl_intel_subgroup_2d_block_io: reads; requirements of the matrix: LLVM, uArch \
    of XeGPU (Xe2); its minimum row of 32 bytes is documented as 64";

/// Number of work items of the sub-group that loads a block.
const LANES: u64 = 16;

/// The order of a block's elements in the registers of a sub-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Consecutive work items hold consecutive elements of a row.
    Plain,
    /// Consecutive work items hold consecutive elements of a column.
    Transposed,
    /// Consecutive work items hold consecutive elements of a row, and as many rows as fit are packed in a 32-bit
    /// register (VNNI).
    Together,
}

/// A group of 2-D block loads: element order, bits of an element, columns of a block, number of adjacent blocks, and
/// the possible numbers of rows.
type Size = (Form, u32, u32, u32, &'static [u32]);

/// The 2-D block loads, larger blocks before smaller ones. A packed block comes before a plain one, because both can
/// fill the same registers, and MMAs need the packed form for operand B.
const SIZES: [Size; 13] = [
    (Form::Together, 8, 16, 4, &[32]),
    (Form::Together, 8, 16, 2, &[32]),
    (Form::Together, 8, 16, 1, &[32]),
    (Form::Together, 16, 16, 2, &[32, 16]),
    (Form::Together, 16, 16, 1, &[32, 16]),
    (Form::Plain, 8, 32, 2, &[32, 16, 8, 4, 2, 1]),
    (Form::Plain, 8, 32, 1, &[32, 16, 8, 4, 2, 1]),
    (Form::Plain, 16, 16, 2, &[32, 16, 8, 4, 2, 1]),
    (Form::Plain, 16, 16, 1, &[32, 16, 8, 4, 2, 1]),
    (Form::Plain, 32, 16, 1, &[32, 16, 8, 4, 2, 1]),
    // One half of the work items holds a row of eight elements, the other half the next row.
    (Form::Plain, 32, 8, 2, &[32, 16, 8, 4, 2]),
    (Form::Plain, 32, 8, 1, &[32, 16, 8, 4, 2]),
    (Form::Transposed, 32, 8, 1, &[16]),
];

/// Returns the 2-D block loads of an architecture; none if it has no 2-D block instructions.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !block::are_known(architecture) {
        return Vec::new();
    }
    // All entries have valid layouts, so no error is dropped; tests count the instructions.
    let each = |&(form, bits, columns, count, rows): &Size| {
        rows.iter().filter_map(move |&rows| row(form, [bits, rows, columns, count]).ok())
    };
    SIZES.iter().flat_map(each).collect()
}

fn row(form: Form, [element_bits, rows, columns, count]: [u32; 4]) -> Result<Instruction, LayoutError> {
    let (name, width) = match form {
        Form::Plain => ("", element_bits.max(16)),
        Form::Transposed => ("transpose_", 32),
        Form::Together => ("transform_", 32),
    };
    let [high, wide] = [rows, columns].map(u64::from);
    let layout = match form {
        Form::Plain => plain(high, wide, count.into(), u64::from(width / element_bits))?,
        Form::Transposed => transposed(high, wide)?,
        Form::Together => together(high, wide, count.into(), u64::from(width / element_bits))?,
    };
    let result = InstructionOperand::Register {
        role: "d".to_owned(),
        element: format!("u{element_bits}"),
        bits: element_bits,
        layout,
    };
    Ok(Instruction {
        name: format!("intel_sub_group_2d_block_read_{name}{element_bits}b_{rows}r{columns}x{count}c"),
        kind: InstructionKind::GlobalMove,
        operands: [result].into_iter().chain(block::operands(element_bits, rows, columns * count)).collect(),
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// Returns the layout of a plain load of `count` blocks. A work item holds `neighbours` adjacent elements of a row;
/// work items go along the row, then over the next rows. Registers go over the remaining rows, then over the blocks.
fn plain(rows: u64, columns: u64, count: u64, neighbours: u64) -> Result<LinearLayout, LayoutError> {
    let along = (columns / neighbours).min(LANES);
    let below = LANES / along;
    tile_from_identities(
        &[1, 0],
        &[
            (Dim::REGISTER, neighbours, 1),
            (Dim::LANE, along, 1),
            (Dim::LANE, below, 0),
            (Dim::REGISTER, rows / below, 0),
            (Dim::REGISTER, count, 1),
        ],
    )?
    .transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// Returns the layout of a transposed load: each work item holds one row, with a register for each column.
fn transposed(rows: u64, columns: u64) -> Result<LinearLayout, LayoutError> {
    tile_from_identities(&[1, 0], &[(Dim::LANE, rows, 0), (Dim::REGISTER, columns, 1)])?
        .transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// Returns the layout of a packed load of `count` blocks: a work item holds one column, with `neighbours` rows packed
/// in each 32-bit register. Further registers hold the next blocks.
fn together(rows: u64, columns: u64, count: u64, neighbours: u64) -> Result<LinearLayout, LayoutError> {
    tile_from_identities(
        &[0, 1],
        &[
            (Dim::REGISTER, neighbours, 0),
            (Dim::LANE, columns, 1),
            (Dim::REGISTER, rows / neighbours, 0),
            (Dim::REGISTER, count, 1),
        ],
    )?
    .transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}
