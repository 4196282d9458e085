//! Loads of two-dimensional blocks from global memory to registers: as they lie, transposed, and of rows put together as
//! factors of products have them.

use tilewright_layout::families::cluster::tile_of;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics};

use super::block;

const SOURCE: &str = "OpenCL extension cl_intel_subgroup_2d_block_io: reads; what a matrix must be like: LLVM, uArch of \
                      XeGPU (Xe2), of whose least rows of 32 bytes the documents say 64";

/// Work items of a sub-group.
const LANES: u64 = 16;

/// How the elements of a block lie in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A row over the work items.
    Plain,
    /// A column over the work items.
    Transposed,
    /// A row over the work items, as many below each other in one register of 32 bits as there is place for.
    Together,
}

/// A form, bits of an element, columns of a block, blocks side by side, rows.
type Size = (Form, u32, u32, u32, &'static [u32]);

/// The reads, each larger block before the smaller ones. Registers of 16 bits lie alike where a row, and where neighbours
/// below each other come in one register of 32 bits; products take the latter of their second factors, so it is first.
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
    // A row of eight is over half of the work items, the next over the others.
    (Form::Plain, 32, 8, 2, &[32, 16, 8, 4, 2]),
    (Form::Plain, 32, 8, 1, &[32, 16, 8, 4, 2]),
    (Form::Transposed, 32, 8, 1, &[16]),
];

/// The reads of an architecture.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !block::are_known(architecture) {
        return Vec::new();
    }
    // A row that is no layout would be a mistake here; tests count the rows.
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
    let result =
        Operand::Register { role: "d".to_owned(), element: format!("u{element_bits}"), bits: element_bits, layout };
    Ok(Instruction {
        name: format!("intel_sub_group_2d_block_read_{name}{element_bits}b_{rows}r{columns}x{count}c"),
        kind: InstructionKind::GlobalMove,
        operands: [result].into_iter().chain(block::operands(element_bits, rows, columns * count)).collect(),
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::AtOnce,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// Neighbours of a row that make up 16 bits are in one work item, the others over the work items, where there are more of
/// these in the rows below; then rows, then the next block.
fn plain(rows: u64, columns: u64, count: u64, neighbours: u64) -> Result<LinearLayout, LayoutError> {
    let along = (columns / neighbours).min(LANES);
    let below = LANES / along;
    tile_of(
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

/// A work item has a row, column after column.
fn transposed(rows: u64, columns: u64) -> Result<LinearLayout, LayoutError> {
    tile_of(&[1, 0], &[(Dim::LANE, rows, 0), (Dim::REGISTER, columns, 1)])?
        .transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])
}

/// A work item has a column, of which neighbours make up 32 bits; then the next block.
fn together(rows: u64, columns: u64, count: u64, neighbours: u64) -> Result<LinearLayout, LayoutError> {
    tile_of(
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
