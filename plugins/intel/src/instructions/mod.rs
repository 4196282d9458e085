//! Instruction rows of this vendor: the systolic dot product `dpas`, loads and prefetches of blocks.

mod block;
mod block_read;
mod dpas;
mod prefetch;

use tilewright_plugin::{TablePart, instruction_table};
use tilewright_target::{Instruction, InstructionKind, UnusedInstruction};

/// The parts of the instruction table.
pub(crate) const INSTRUCTIONS: &[TablePart] = &[
    TablePart { kind: InstructionKind::Matrix, rows: dpas::rows },
    TablePart { kind: InstructionKind::Prefetch, rows: prefetch::rows },
    TablePart { kind: InstructionKind::GlobalMove, rows: block_read::rows },
];

/// The instructions of an architecture; products for sub-groups as wide as the instruction, the narrowest that there
/// are. None for architectures that this plugin does not serve.
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
