//! The AMD plugin as a library: layout families, instructions, and code generation for AMD GPUs.

mod architectures;
#[cfg(feature = "codegen")]
mod compile;
mod device;
pub mod families;
pub mod instructions;
#[cfg(feature = "codegen")]
pub mod object;
mod target;

pub use architectures::ARCHITECTURES;
pub use target::{Amd, AmdTarget};
