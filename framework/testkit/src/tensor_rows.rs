//! Invented instructions for tests of tensor memory (as NVIDIA's TMEM) with 16 rows, 8 for each warp, and 32 columns.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::Queue;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{
    Completion, Evidence, Instruction, InstructionKind, InstructionOperand, Semantics, TensorMemory,
    TensorMemoryOperand,
};

/// Returns the description of the invented tensor memory.
pub fn memory() -> TensorMemory {
    TensorMemory {
        rows: 16,
        columns: 32,
        warp_rows: 8,
        least_columns: 4,
        column_cycles: 1.0,
        bits_per_cycle: 1,
        evidence: Evidence::Assumed,
        source: "invented".to_owned(),
    }
}

pub fn layout(ins: &[(Dim, &[[u64; 2]])], sizes: [u64; 2]) -> LinearLayout {
    let bases: Vec<_> = ins.iter().map(|(dim, all)| (*dim, all.iter().map(|one| one.to_vec()).collect())).collect();
    LinearLayout::from_bases(&bases, &[(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])]).unwrap()
}

pub fn tensor(
    role: &str,
    element: &str,
    bits: u32,
    rows: &[[u64; 2]],
    columns: &[[u64; 2]],
    sizes: [u64; 2],
) -> InstructionOperand {
    let layout = layout(&[(Dim::ROW, rows), (Dim::COL, columns)], sizes);
    InstructionOperand::Tensor(TensorMemoryOperand {
        role: role.to_owned(),
        element: element.to_owned(),
        bits,
        layout,
        copies: vec![],
    })
}

pub fn register(
    role: &str,
    element: &str,
    registers: &[[u64; 2]],
    lanes: &[[u64; 2]],
    sizes: [u64; 2],
) -> InstructionOperand {
    let layout = layout(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], sizes);
    let bits = if element == "f16" { 16 } else { 32 };
    InstructionOperand::Register { role: role.to_owned(), element: element.to_owned(), bits, layout }
}

pub fn row(
    name: &str,
    kind: InstructionKind,
    semantics: Semantics,
    queue: Queue,
    operands: Vec<InstructionOperand>,
) -> Instruction {
    let (name, source) = (name.to_owned(), "invented".to_owned());
    let completion = Completion::Queue(queue);
    Instruction { name, kind, operands, cycles: None, semantics, completion, numerics: None, source }
}
