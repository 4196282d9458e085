//! The vendor's assembler takes the code, and says nothing of it that would make it slow.

pub mod dots;
pub mod explicit;
pub mod messages;
mod ptxas;
pub mod rows;
pub mod spills;
pub mod syntax;
