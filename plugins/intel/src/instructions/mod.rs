//! Instruction table of this vendor: the systolic MMA `dpas`, 2-D block loads and prefetches.

mod block;
mod block_read;
mod dpas;
mod prefetch;

use tilewright_plugin::{InstructionGroup, instruction_table};
use tilewright_target::{Instruction, InstructionKind, UnusedInstruction};

/// The instruction table in groups by kind, each with a function that returns an architecture's instructions.
pub(crate) const INSTRUCTIONS: &[InstructionGroup] = &[
    InstructionGroup { kind: InstructionKind::Matrix, rows: dpas::rows },
    InstructionGroup { kind: InstructionKind::Prefetch, rows: prefetch::rows },
    InstructionGroup { kind: InstructionKind::GlobalMove, rows: block_read::rows },
];

/// Returns the instructions of an architecture; MMA instructions are for the narrowest sub-group size. Empty for
/// architectures that this plugin does not serve.
#[must_use]
pub fn rows(architecture: &str) -> Vec<Instruction> {
    instruction_table(INSTRUCTIONS, architecture)
}

/// Returns an architecture's instructions that the table leaves out, with the reasons.
#[must_use]
pub fn unused(architecture: &str) -> Vec<UnusedInstruction> {
    // The list is valid; tests count its forms.
    UnusedInstruction::read_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}
