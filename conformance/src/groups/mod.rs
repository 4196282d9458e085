//! The groups of the product's suite.
//!
//! None knows a vendor: cases come from the samples of a target's families, from its instruction
//! rows, from its limits, and from known answers.

pub mod algebra;
mod along;
mod artifact;
pub mod asynchronous;
mod bulk;
pub mod conversions;
mod corpus;
pub mod cute;
pub mod dot;
mod emulated;
mod endpoint;
mod executed;
pub mod facts;
pub mod families;
pub mod figures;
pub mod gather;
pub mod instructions;
pub mod kernels;
mod known;
mod law;
pub mod layouts;
pub mod memory;
pub mod reduce;
mod samples;
pub mod scan;
mod setting;
mod tensor;
mod walk;

pub use along::TensorAxis;
pub use endpoint::Endpoint;
pub use setting::Setting;
pub use tensor::CaseTensor;
