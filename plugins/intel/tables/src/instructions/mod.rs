//! Instruction table of this vendor: the systolic MMA `dpas`, 2-D block loads and prefetches.

mod block;
mod block_read;
mod dpas;
mod prefetch;

use tilewright_plugin::{InstructionGroup, concatenate_instruction_groups};
use tilewright_target::{Instruction, InstructionKind, OmittedInstruction};

/// The instruction table in groups by kind, each with a function that returns an architecture's instructions.
pub(crate) const INSTRUCTIONS: &[InstructionGroup] = &[
    InstructionGroup { kind: InstructionKind::Matrix, rows: dpas::rows },
    InstructionGroup { kind: InstructionKind::Prefetch, rows: prefetch::rows },
    InstructionGroup { kind: InstructionKind::GlobalMove, rows: block_read::rows },
];

/// Returns the instructions of an architecture, such as `pvc`; none for architectures that this plugin does not serve.
/// MMAs are those of the smallest sub-group size.
#[must_use]
pub fn instructions_of(architecture: &str) -> Vec<Instruction> {
    concatenate_instruction_groups(INSTRUCTIONS, architecture)
}

/// Returns an architecture's instructions that the table leaves out, with the reasons.
#[must_use]
pub fn omitted_instructions_of(architecture: &str) -> Vec<OmittedInstruction> {
    // The list in `unused.toml` parses without an error; tests count its entries.
    OmittedInstruction::parse_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}
