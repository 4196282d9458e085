//! The groups of the product's suite.
//!
//! None knows a vendor: cases come from the samples of a target's families, from its instruction
//! rows, from its limits, and from known answers.

pub mod algebra;
mod artifact;
pub mod conversions;
pub mod cute;
pub mod dot;
pub mod families;
pub mod instructions;
mod known;
mod law;
pub mod layouts;
mod samples;
mod setting;
mod walk;

pub use setting::Setting;
