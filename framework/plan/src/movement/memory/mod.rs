//! Accesses between registers and memory of a given layout: shared memory and global memory.

mod access;
mod access_kind;
mod coalesced;
mod conflicts;
mod global;
mod global_tensor;

pub(super) use access::locate_registers;
pub use access::{SharedAccessPlan, plan_shared_access};
pub use access_kind::{SegmentOffsetBitSource, SharedAccessKind};
pub use coalesced::find_coalesced_layout;
pub(super) use coalesced::in_order as load_order;
pub use conflicts::{BankConflicts, BankModel, ConflictError, count_bank_conflicts};
pub use global::{CACHE_LINE_BYTES, GlobalAccessPlan, PredicatedGlobalAddress, plan_global_access};
pub use global_tensor::{AxisStride, GlobalTensor};
