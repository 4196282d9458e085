//! Layout families of this vendor: accumulators, operands and scales of its matrix instructions, and rotating shared
//! memory.
//!
//! Parameters of a family have the names of Triton's layout parameters; the names in Triton's attribute text are
//! accepted too.

mod attribute_syntax;
mod mfma;
mod rotating;
mod samples;
mod scales;
mod vendor_families;
mod wmma;

pub use vendor_families::AmdFamilies;
