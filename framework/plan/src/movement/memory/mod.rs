//! Accesses between registers and memory of a given layout: shared memory and global memory.

mod access;
mod access_kind;
mod conflicts;
mod global;

pub(super) use access::locate_registers;
pub use access::{SharedAccessPlan, plan_shared_access};
pub use access_kind::{SegmentOffsetBitSource, SharedAccessKind};
pub use conflicts::{BankConflicts, BankModel, ConflictError, count_bank_conflicts};
pub(super) use global::in_order as load_order;
pub use global::{
    AxisStride, CACHE_LINE_BYTES, GlobalAccessPlan, GlobalTensor, PredicatedGlobalAddress, find_coalesced_layout,
    plan_global_access,
};
