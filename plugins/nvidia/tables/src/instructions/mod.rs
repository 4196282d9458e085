//! Instructions of this vendor: MMAs of warps and warpgroups, MMAs and moves of tensor memory, matrix moves between
//! registers and shared memory, and asynchronous copies.
//!
//! Layouts are derived by rule from shapes and element widths; tests check them against published tables.

mod bulk;
mod copy;
mod matrix_move;
mod mma;
mod mma_scaled;
mod numerics;
mod smem_operand;
mod swizzle;
mod tensor_copy;
mod tensor_mma;
mod tensor_move;
mod tensor_scaled;
mod wgmma;

use tilewright_plugin::{InstructionGroup, concatenate_instruction_groups};
use tilewright_target::{Instruction, InstructionKind, OmittedInstruction};

pub use bulk::{MNEMONIC as BULK_COPY, REDUCTION as BULK_REDUCTION};

/// The instruction table in groups by kind, each with a function that returns an architecture's instructions.
pub(crate) const INSTRUCTIONS: &[InstructionGroup] = &[
    InstructionGroup { kind: InstructionKind::Matrix, rows: |architecture| mma::rows(capability(architecture)) },
    InstructionGroup { kind: InstructionKind::Matrix, rows: wgmma::rows },
    InstructionGroup { kind: InstructionKind::AsyncCopy, rows: |architecture| copy::rows(capability(architecture)) },
    InstructionGroup { kind: InstructionKind::AsyncCopy, rows: |architecture| bulk::rows(capability(architecture)) },
    InstructionGroup { kind: InstructionKind::Matrix, rows: mma_scaled::rows },
    InstructionGroup { kind: InstructionKind::Matrix, rows: tensor_mma::rows },
    InstructionGroup { kind: InstructionKind::Matrix, rows: tensor_scaled::rows },
    InstructionGroup { kind: InstructionKind::TensorMove, rows: tensor_copy::rows },
    InstructionGroup { kind: InstructionKind::TensorMove, rows: tensor_move::rows },
    InstructionGroup {
        kind: InstructionKind::SharedMove,
        rows: |architecture| matrix_move::rows(architecture, capability(architecture)),
    },
];

/// Returns the instructions of an architecture, such as `sm_80` or `sm_90a`; none for other names.
#[must_use]
pub fn instructions_of(architecture: &str) -> Vec<Instruction> {
    concatenate_instruction_groups(INSTRUCTIONS, architecture)
}

/// Returns an architecture's instructions that the table does not contain, with the reasons.
#[must_use]
pub fn omitted_instructions_of(architecture: &str) -> Vec<OmittedInstruction> {
    // A parse error would be a mistake in the list; tests count its entries.
    OmittedInstruction::parse_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}

/// Returns the compute capability of an architecture, times ten: 90 for `sm_90a`. Zero, which has no instructions, for
/// other names.
fn capability(architecture: &str) -> u32 {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    digits.parse().unwrap_or(0)
}
