//! `tcgen05.ld` and `tcgen05.st`: move a warp's rows of some columns of tensor memory to registers, or back.
//!
//! The atom of an instruction shape (shared with the layout family `tmem_reg`) gives the lanes and registers of the
//! first columns; further registers hold further columns. `16x32bx2` moves two column ranges at a constant distance;
//! here the second range directly follows the first. `.pack::16b` and `.unpack::16b` are not listed.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, Queue, Semantics, TensorMemoryOperand,
};

use crate::families::tensor_memory_access::{Atom, atom};

const SOURCE: &str = "PTX ISA, tcgen05.ld and tcgen05.st: data movement shapes";

/// Instruction shapes in PTX ISA's names. Shapes whose lanes hold several adjacent elements of a row come first.
const SHAPES: [&str; 4] = ["16x256b", "16x128b", "16x64b", "32x32b"];

/// Maximum number of registers per lane in one instruction.
const MOST_REGISTERS: u64 = 128;

/// The tile of one instruction: the bases of registers and lanes as (row, column), the numbers of rows and columns, and
/// the distance of the two column ranges of `16x32bx2` (`None` for other shapes).
struct Shape {
    word: &'static str,
    registers: Vec<[u64; 2]>,
    lanes: Vec<[u64; 2]>,
    rows: u64,
    columns: u64,
    half_split_offset: Option<u64>,
}

impl Shape {
    /// Returns the tile that repeats the atom of a shape `times` times along the columns.
    fn of_atom(word: &'static str, atom: &Atom, times: u64) -> Self {
        let more = (0..times.trailing_zeros()).map(|bit| [0, atom.columns << bit]);
        Self {
            word,
            registers: atom.registers.iter().copied().chain(more).collect(),
            lanes: atom.lanes.to_vec(),
            rows: if atom.all_rows { 32 } else { 16 },
            columns: atom.columns * times,
            half_split_offset: None,
        }
    }

    /// Returns the tile of `16x32bx2`: two ranges of `times` columns side by side, the second in the upper lanes.
    fn of_column_pair(times: u64) -> Self {
        Self {
            word: "16x32bx2",
            registers: (0..times.trailing_zeros()).map(|bit| [0, 1 << bit]).collect(),
            lanes: vec![[1, 0], [2, 0], [4, 0], [8, 0], [0, times]],
            rows: 16,
            columns: 2 * times,
            half_split_offset: Some(times),
        }
    }
}

/// Returns the instructions of an architecture; none if it has no tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !super::tensor_mma::has_tensor_memory(architecture) {
        return Vec::new();
    }
    let powers = |most: u64| (0..).map(|bit| 1 << bit).take_while(move |&times| times <= most);
    let mut shapes = Vec::new();
    for (word, atom) in SHAPES.into_iter().filter_map(|word| Some((word, atom(word)?))) {
        let all = powers(MOST_REGISTERS >> atom.registers.len());
        shapes.extend(all.map(|times| (times, Shape::of_atom(word, &atom, times))));
    }
    shapes.extend(powers(MOST_REGISTERS).map(|times| (times, Shape::of_column_pair(times))));
    // All these layouts are valid, so no error is dropped; tests count the instructions.
    let both = |(times, shape): (u64, Shape)| [true, false].map(|is_load| row(&shape, times, is_load).ok());
    shapes.into_iter().flat_map(both).flatten().collect()
}

fn row(shape: &Shape, times: u64, is_load: bool) -> Result<Instruction, LayoutError> {
    let sizes = [(Dim::tensor(0), shape.rows), (Dim::tensor(1), shape.columns)];
    let bases =
        |coordinates: &[[u64; 2]]| -> DimBases { coordinates.iter().map(|coordinate| coordinate.to_vec()).collect() };
    let register_layout = [(Dim::REGISTER, bases(&shape.registers)), (Dim::LANE, bases(&shape.lanes))];
    let register_layout = LinearLayout::from_bases(&register_layout, &sizes)?;
    let along = |axis: usize, size: u64| -> DimBases {
        (0..size.trailing_zeros()).map(|bit| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] }).collect()
    };
    let tile_layout = [(Dim::ROW, along(0, shape.rows)), (Dim::COL, along(1, shape.columns))];
    let tile_layout = LinearLayout::from_bases(&tile_layout, &sizes)?;
    let register = InstructionOperand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "u32".to_owned(),
        bits: 32,
        layout: register_layout,
    };
    let memory = InstructionOperand::Tensor(TensorMemoryOperand {
        role: "memory".to_owned(),
        element: "u32".to_owned(),
        bits: 32,
        layout: tile_layout,
        copies: vec![],
    });
    let (word, queue) = if is_load { ("ld", Queue::TensorLoads) } else { ("st", Queue::TensorStores) };
    let mut operands = if is_load { vec![register, memory] } else { vec![memory, register] };
    operands.extend(shape.half_split_offset.map(|value| InstructionOperand::Constant {
        role: "apart".to_owned(),
        bits: 32,
        value,
    }));
    Ok(Instruction {
        name: format!("tcgen05.{word}.sync.aligned.{}.x{times}.b32", shape.word),
        kind: InstructionKind::TensorMove,
        operands,
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(queue),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
