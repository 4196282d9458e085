//! The NVIDIA plugin as a library: layout families, instructions and code generation for NVIDIA GPUs.

mod architectures;
#[cfg(feature = "codegen")]
mod compile;
pub mod device;
pub mod families;
pub mod instructions;
#[cfg(feature = "codegen")]
pub mod object;
mod target;

pub use architectures::ARCHITECTURES;
pub use target::{Nvidia, NvidiaTarget};
