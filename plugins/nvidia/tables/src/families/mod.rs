//! Layout families of this vendor: results and operands of its matrix instructions, in registers and in shared memory.
//!
//! Parameters of a family have the names of Triton's layout parameters; the text syntax of Triton's attributes is
//! accepted too.

mod attribute_syntax;
mod mma;
mod mma_scale;
mod samples;
mod shared;
mod tensor_memory;
pub(crate) mod tensor_memory_access;
mod vendor_families;

pub use vendor_families::NvidiaFamilies;
