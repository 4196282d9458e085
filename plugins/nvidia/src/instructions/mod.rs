//! Instruction rows of this vendor: matrix products of one warp and of four, matrix moves between
//! registers and shared memory, copies between global and shared memory, and products and moves that have their sums
//! in tensor memory.
//!
//! Layouts are derived by rule from shapes and element widths; tests check them against published
//! tables.

mod bulk;
mod copy;
mod factor;
mod matrix_move;
mod mma;
mod mma_scaled;
mod numerics;
mod swizzle;
mod tensor_copy;
mod tensor_move;
mod tensor_product;
mod tensor_scaled;
mod wgmma;

use tilewright_plugin::{TablePart, instruction_table};
use tilewright_target::{Instruction, InstructionKind, UnusedInstruction};

#[cfg(feature = "codegen")]
pub(crate) use bulk::MNEMONIC as BULK_COPY;

/// The parts of the instruction table.
pub(crate) const INSTRUCTIONS: &[TablePart] = &[
    TablePart { kind: InstructionKind::Matrix, rows: |architecture| mma::rows(capability(architecture)) },
    TablePart { kind: InstructionKind::Matrix, rows: wgmma::rows },
    TablePart { kind: InstructionKind::AsyncCopy, rows: |architecture| copy::rows(capability(architecture)) },
    TablePart { kind: InstructionKind::AsyncCopy, rows: |architecture| bulk::rows(capability(architecture)) },
    TablePart { kind: InstructionKind::Matrix, rows: mma_scaled::rows },
    TablePart { kind: InstructionKind::Matrix, rows: tensor_product::rows },
    TablePart { kind: InstructionKind::Matrix, rows: tensor_scaled::rows },
    TablePart { kind: InstructionKind::TensorMove, rows: tensor_copy::rows },
    TablePart { kind: InstructionKind::TensorMove, rows: tensor_move::rows },
    TablePart {
        kind: InstructionKind::SharedMove,
        rows: |architecture| matrix_move::rows(architecture, capability(architecture)),
    },
];

/// The instructions of an architecture, `sm_80`, `sm_90a`, ...; none for others.
#[must_use]
pub fn rows(architecture: &str) -> Vec<Instruction> {
    instruction_table(INSTRUCTIONS, architecture)
}

/// Instructions of an architecture that no row stands for, with the reasons; none for architectures without any.
#[must_use]
pub fn unused(architecture: &str) -> Vec<UnusedInstruction> {
    // A list that cannot be read would be a mistake in it; tests count its forms.
    UnusedInstruction::read_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}

/// The compute capability, `90` for `sm_90a`; zero, which has no instructions, for others.
fn capability(architecture: &str) -> u32 {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    digits.parse().unwrap_or(0)
}
