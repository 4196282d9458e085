//! Layout families of this vendor: results, operands and scales of its systolic instruction, and
//! what two-dimensional block reads leave in registers.
//!
//! Parameters have the names of the attributes of Intel's Triton backend, in snake case.

mod block_read;
pub(crate) mod dpas;
mod operand_axes;
mod samples;
mod spelling;
mod vendor_families;

pub use vendor_families::IntelFamilies;
