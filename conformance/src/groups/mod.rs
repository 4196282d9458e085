//! The groups of the product's suite.
//!
//! None knows a vendor: cases come from the samples of a target's families, from its instruction
//! rows, and from its limits.

pub mod conversions;
pub mod layouts;
mod setting;
mod walk;

pub use setting::Setting;
