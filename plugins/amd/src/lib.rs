//! The amd plugin as a library.

pub mod families;
pub mod instructions;
