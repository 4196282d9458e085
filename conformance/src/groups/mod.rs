//! The groups of cases of this package's conformance suite.
//!
//! No group has code for a vendor: cases are built from the samples of a target's layout families, from its instruction
//! table, from its limits, and from known answers.

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

pub use along::AxisOperationCase;
pub use endpoint::NamedLayout;
pub use setting::KernelConfig;
pub use tensor::CaseTensorSpec;
