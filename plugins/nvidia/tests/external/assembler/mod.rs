//! NVIDIA's assembler `ptxas` accepts the generated code without a performance warning.

pub mod dots;
pub mod explicit;
pub mod messages;
mod ptxas;
pub mod recorded;
pub mod rows;
pub mod spills;
pub mod syntax;
