//! Layout families of this vendor: results and operands of its matrix instructions, in registers and
//! in shared memory.
//!
//! Parameters have the names of Triton's layouts; the spellings of its attributes in text are
//! taken as well.

mod mma;
mod mma_scale;
mod samples;
mod shared;
mod spelling;
mod tensor_memory;
pub(crate) mod tensor_memory_access;
mod vendor_families;

pub use vendor_families::NvidiaFamilies;
