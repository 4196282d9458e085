//! What vendor instructions do: given by whoever knows their rows.

mod asynchronous;
mod semantics;
mod tensor_memory;

pub use semantics::{Call, InstructionSemantics, SemanticsTable};
