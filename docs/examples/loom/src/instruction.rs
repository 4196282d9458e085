//! The matrix instruction `loom.mma`: d = a * b + c, 8 x 4 times 4 x 8, with f16 operands and an f32 accumulator.
//!
//! | operand | registers | lanes |
//! |---|---|---|
//! | a, of (m, k) | two along k | two along k, eight along m |
//! | b, of (k, n) | two along k | two along k, eight along n |
//! | c and d, of (m, n) | four along n | two along n, eight along m |

use tilewright_plugin::layout::{Dim, LayoutError, LinearLayout};
use tilewright_plugin::target::{Completion, Instruction, InstructionKind, InstructionOperand, MmaNumerics, Semantics};

/// Name of the instruction in plans, kernel IR and pictures.
pub const NAME: &str = "loom.mma.8x8x4.f32.f16";

/// The entry of the instruction table: instruction selection, data movement and the emulator use only this data.
pub fn row() -> Result<Instruction, LayoutError> {
    let a = tile(&[[0, 1]], &[[0, 2], [1, 0], [2, 0], [4, 0]], [8, 4])?;
    let b = tile(&[[1, 0]], &[[2, 0], [0, 1], [0, 2], [0, 4]], [4, 8])?;
    let d = tile(&[[0, 1], [0, 2]], &[[0, 4], [1, 0], [2, 0], [4, 0]], [8, 8])?;
    let operand = |role: &str, layout| InstructionOperand::Register {
        role: role.into(),
        element: "f16".into(),
        bits: 16,
        layout,
    };
    let sum = |role: &str, layout| InstructionOperand::Register {
        role: role.into(),
        element: "f32".into(),
        bits: 32,
        layout,
    };
    Ok(Instruction {
        name: NAME.to_owned(),
        kind: InstructionKind::Matrix,
        operands: vec![sum("d", d.clone()), operand("a", a), operand("b", b), sum("c", d)],
        cycles: Some(8.0),
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        // A chain of fused multiply-adds, k ascending.
        numerics: Some(MmaNumerics::default()),
        source: "invented".to_owned(),
    })
}

/// Returns an operand's layout by its bases: the (row, column) of each bit of the register index and of the lane index.
/// `sizes` are the numbers of rows and columns.
fn tile(registers: &[[u64; 2]], lanes: &[[u64; 2]], sizes: [u64; 2]) -> Result<LinearLayout, LayoutError> {
    let bases = |bases: &[[u64; 2]]| bases.iter().map(|basis| basis.to_vec()).collect();
    let outs = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
    LinearLayout::from_bases(&[(Dim::REGISTER, bases(registers)), (Dim::LANE, bases(lanes))], &outs)?
        .require_surjective()
}
