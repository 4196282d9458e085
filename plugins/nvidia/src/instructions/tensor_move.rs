//! `tcgen05.ld` and `tcgen05.st`: a warp's rows of some columns of tensor memory to registers and back.
//!
//! What lanes and registers hold of the first columns is the atom of the shape, which the family `tmem_reg` has too;
//! further columns go to further registers. Not listed: `.16x32bx2`, whose halves of columns lie apart by a constant, and
//! `.pack::16b` and `.unpack::16b`.

use tilewright::layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright::target::{Completion, Instruction, InstructionKind, Operand, Queue, Semantics, TensorOperand};

use crate::families::tensor_memory_access::{Atom, atom};

const SOURCE: &str = "PTX ISA, tcgen05.ld and tcgen05.st: data movement shapes";

/// The shapes, by the word of the PTX ISA; first those whose lanes have several neighbours of a row.
const SHAPES: [&str; 4] = ["16x256b", "16x128b", "16x64b", "32x32b"];

/// Registers of a lane at most.
const MOST_REGISTERS: u64 = 128;

/// The rows of an architecture that has tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !super::tensor_product::has_tensor_memory(architecture) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (shape, atom) in SHAPES.into_iter().filter_map(|shape| Some((shape, atom(shape)?))) {
        let own = 1 << atom.registers.len();
        for times in (0..).map(|bit| 1 << bit).take_while(|times| times * own <= MOST_REGISTERS) {
            // A row that is no layout would be a mistake here; tests count the rows.
            rows.extend(row(shape, &atom, times, true).ok());
            rows.extend(row(shape, &atom, times, false).ok());
        }
    }
    rows
}

fn row(shape: &str, atom: &Atom, times: u64, is_load: bool) -> Result<Instruction, LayoutError> {
    let (rows, columns) = (if atom.all_rows { 32u64 } else { 16 }, atom.columns * times);
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), columns)];
    let bases = |places: &[[u64; 2]]| -> Bases { places.iter().map(|place| place.to_vec()).collect() };
    let mut registers = bases(atom.registers);
    registers.extend((0..times.trailing_zeros()).map(|bit| vec![0, atom.columns << bit]));
    let held = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, bases(&atom.lanes))], &sizes)?;
    let along = |axis: usize, size: u64| -> Bases {
        (0..size.trailing_zeros()).map(|bit| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] }).collect()
    };
    let places = LinearLayout::from_bases(&[(Dim::ROW, along(0, rows)), (Dim::COL, along(1, columns))], &sizes)?;
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
    });
    let (word, queue) = if is_load { ("ld", Queue::TensorLoads) } else { ("st", Queue::TensorStores) };
    Ok(Instruction {
        name: format!("tcgen05.{word}.sync.aligned.{shape}.x{times}.b32"),
        kind: InstructionKind::TensorMove,
        operands: if is_load { vec![register, memory] } else { vec![memory, register] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(queue),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
