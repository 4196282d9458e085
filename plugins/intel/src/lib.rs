//! The Intel plugin as a library: the targets of this vendor, their layout families and instructions, the compiler from
//! kernel IR to SPIR-V, and with the feature `drivers` the devices that run kernels.

mod architecture;
mod architectures;
#[cfg(feature = "codegen")]
pub mod compile;
pub mod device;
pub mod families;
pub mod instructions;
mod register_mode;
mod target;

pub use architecture::Architecture;
pub use architectures::ARCHITECTURES;
pub use target::{Intel, IntelTarget};
