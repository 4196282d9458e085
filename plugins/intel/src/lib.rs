//! The Intel plugin as a library: its targets, and the compiler from kernel IR to SPIR-V.

mod architecture;
pub mod compile;
mod target;

pub use architecture::Architecture;
pub use target::{IntelBackend, IntelTarget};
