//! Layout families of this vendor: results, operands and scales of its matrix instructions, and
//! rotating shared memory.
//!
//! Parameters have the names of Triton's layouts; the spellings of its attributes in text are
//! taken as well.

mod mfma;
mod rotating;
mod samples;
mod scales;
mod spelling;
mod vendor_families;
mod wmma;

pub use vendor_families::AmdFamilies;
