//! The architectures of NVIDIA GPUs, their layout families and their instruction tables.
//!
//! This crate has no code generator and opens no driver. Hosts that need layouts and plans without generated code link
//! it alone; the plugin adds the code generator and the devices.

mod architectures;
pub mod families;
pub mod instructions;
mod tables;

pub use architectures::ARCHITECTURES;
pub use tables::NvidiaTables;
