//! Accesses of registers to memory whose layout is given: shared memory and global memory.

mod access;
mod conflicts;
mod global;

pub use access::{SharedAccess, load_shared, store_shared};
pub use conflicts::{BankModel, ConflictError, Conflicts, conflicts};
pub use global::{GlobalAccess, GlobalTensor, Place, Stride, access_global, coalesced_layout};
