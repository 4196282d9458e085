//! `tcgen05.ld` and `tcgen05.st`: a warp's rows of some columns of tensor memory to registers and back.
//!
//! What lanes and registers hold of the first columns is the atom of the shape, which the family `tmem_reg` has too;
//! further columns go to further registers. `16x32bx2` moves two halves of columns, which lie apart by a constant: here the
//! second follows the first. Not listed: `.pack::16b` and `.unpack::16b`.

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Queue, Semantics, TensorOperand};

use crate::families::tensor_memory_access::{Atom, atom};

const SOURCE: &str = "PTX ISA, tcgen05.ld and tcgen05.st: data movement shapes";

/// The shapes, by the word of the PTX ISA; first those whose lanes have several neighbours of a row.
const SHAPES: [&str; 4] = ["16x256b", "16x128b", "16x64b", "32x32b"];

/// Registers of a lane at most.
const MOST_REGISTERS: u64 = 128;

/// What one instruction moves: places of registers and lanes, rows and columns, and how far its halves are apart.
struct Shape {
    word: &'static str,
    registers: Vec<[u64; 2]>,
    lanes: Vec<[u64; 2]>,
    rows: u64,
    columns: u64,
    apart: Option<u64>,
}

impl Shape {
    /// The atom of a word, `times` over.
    fn of_atom(word: &'static str, atom: &Atom, times: u64) -> Self {
        let more = (0..times.trailing_zeros()).map(|bit| [0, atom.columns << bit]);
        Self {
            word,
            registers: atom.registers.iter().copied().chain(more).collect(),
            lanes: atom.lanes.to_vec(),
            rows: if atom.all_rows { 32 } else { 16 },
            columns: atom.columns * times,
            apart: None,
        }
    }

    /// Two halves of so many columns side by side, the second in the upper lanes.
    fn halves(times: u64) -> Self {
        Self {
            word: "16x32bx2",
            registers: (0..times.trailing_zeros()).map(|bit| [0, 1 << bit]).collect(),
            lanes: vec![[1, 0], [2, 0], [4, 0], [8, 0], [0, times]],
            rows: 16,
            columns: 2 * times,
            apart: Some(times),
        }
    }
}

/// The rows of an architecture that has tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !super::tensor_product::has_tensor_memory(architecture) {
        return Vec::new();
    }
    let powers = |most: u64| (0..).map(|bit| 1 << bit).take_while(move |&times| times <= most);
    let mut shapes = Vec::new();
    for (word, atom) in SHAPES.into_iter().filter_map(|word| Some((word, atom(word)?))) {
        let all = powers(MOST_REGISTERS >> atom.registers.len());
        shapes.extend(all.map(|times| (times, Shape::of_atom(word, &atom, times))));
    }
    shapes.extend(powers(MOST_REGISTERS).map(|times| (times, Shape::halves(times))));
    // A row that is no layout would be a mistake here; tests count the rows.
    let both = |(times, shape): (u64, Shape)| [true, false].map(|is_load| row(&shape, times, is_load).ok());
    shapes.into_iter().flat_map(both).flatten().collect()
}

fn row(shape: &Shape, times: u64, is_load: bool) -> Result<Instruction, LayoutError> {
    let sizes = [(Dim::tensor(0), shape.rows), (Dim::tensor(1), shape.columns)];
    let bases = |places: &[[u64; 2]]| -> Bases { places.iter().map(|place| place.to_vec()).collect() };
    let held = [(Dim::REGISTER, bases(&shape.registers)), (Dim::LANE, bases(&shape.lanes))];
    let held = LinearLayout::from_bases(&held, &sizes)?;
    let along = |axis: usize, size: u64| -> Bases {
        (0..size.trailing_zeros()).map(|bit| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] }).collect()
    };
    let places = [(Dim::ROW, along(0, shape.rows)), (Dim::COL, along(1, shape.columns))];
    let places = LinearLayout::from_bases(&places, &sizes)?;
    let register = Operand::Register {
        role: if is_load { "d" } else { "a" }.to_owned(),
        element: "u32".to_owned(),
        bits: 32,
        layout: held,
    };
    let memory = Operand::Tensor(TensorOperand {
        role: "memory".to_owned(),
        element: "u32".to_owned(),
        bits: 32,
        layout: places,
        copies: vec![],
    });
    let (word, queue) = if is_load { ("ld", Queue::TensorLoads) } else { ("st", Queue::TensorStores) };
    let mut operands = if is_load { vec![register, memory] } else { vec![memory, register] };
    operands.extend(shape.apart.map(|value| Operand::Constant { role: "apart".to_owned(), bits: 32, value }));
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
