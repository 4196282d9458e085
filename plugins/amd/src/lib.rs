//! The AMD plugin as a library: its targets, and code generation for AMD GPUs.

mod compile;
mod object;
mod target;

pub use target::{AmdBackend, AmdTarget};
