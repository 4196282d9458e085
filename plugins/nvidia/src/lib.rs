//! The NVIDIA plugin as a library: its targets, and code generation for NVIDIA GPUs.

mod compile;
pub mod object;
mod target;

pub use target::{NvidiaBackend, NvidiaTarget};
