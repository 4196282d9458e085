//! Accesses of registers to memory whose layout is given: shared memory and global memory.

mod access;
mod conflicts;
mod global;
mod way;

pub(super) use access::located;
pub use access::{SharedAccess, access_shared};
pub use conflicts::{BankModel, ConflictError, Conflicts, conflicts};
pub(super) use global::in_order as load_order;
pub use global::{AxisStride, GlobalAccess, GlobalPlace, GlobalTensor, access_global, coalesced_layout};
pub use way::{AccessKind, SlotBit};
