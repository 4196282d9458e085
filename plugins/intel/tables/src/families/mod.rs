//! Layout families of this vendor: results, operands and scales of its systolic MMA instruction, and registers of 2-D
//! block loads.
//!
//! Parameters have the names of the attributes of Intel's Triton backend, in snake case.

mod attribute_syntax;
mod block_read;
pub(crate) mod dpas;
mod operand_axes;
mod samples;
mod vendor_families;

pub use vendor_families::IntelFamilies;
