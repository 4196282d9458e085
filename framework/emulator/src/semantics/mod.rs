//! Semantics of vendor instructions, supplied by the caller of the emulator.

mod asynchronous;
mod instruction_semantics;
mod tensor_memory;

pub use instruction_semantics::{InstructionCall, InstructionSemantics, SemanticsTable};
