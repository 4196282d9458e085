//! Plans for moving data, from target data alone.
//!
//! A [`Plan`] is a value: what to do, what it costs, and why no plan can do better. [`convert`]
//! weighs the candidates for a conversion between two distributed layouts and gives the cheapest;
//! [`Plan::emit`] writes the kernel IR. The counts come from the layouts alone, before anything is
//! emitted; those of the emulator come from the addresses that were executed, and must be equal.

mod address;
mod block_begins;
mod block_load;
mod bound;
mod check;
mod choose;
mod context;
mod conversion;
mod convert;
mod copy;
mod descriptor_match;
mod error;
mod gather;
mod memory;
mod prefetch;
mod price;
mod reduce;
mod rejected;
mod scan;
mod shared_bits;
mod source;
mod stats;
mod tensor_allotment;
mod tensor_memory;
mod tile;
mod tuples;
mod wide;

pub use address::product;
pub use address::{ClusterBits, LinearAddress, Thread};
pub use block_load::{BlockLoads, BlockSource};
pub use bound::Bound;
pub use check::check_block;
pub(crate) use check::check_size;
pub use choose::{
    Accessor, AccessorStats, Begin, ConsecutiveCopy, Constraints, Fetch, Kind, MemoryChoice, ScratchLayout,
    SharedLayoutCandidate, choose_shared_layout,
};
pub(crate) use choose::{choose_memory_begun, least_wavefronts};
pub use context::PlanContext;
pub use conversion::Conversion;
pub use convert::{Path, Plan, Rounds, candidates, convert};
pub(crate) use copy::tensor_copies_in;
pub use copy::{
    AsyncCopySpec, PointerCopy, PointerCopySpec, SharedCopy, TensorCopy, TensorCopySource, boxed, consecutive_copy,
    copy_from_shared, copy_to_shared, plan_pointer_copy, plan_tensor_copy,
};
pub use descriptor_match::{DescriptorMatch, arranged};
pub use error::MovementError;
pub use gather::{Gather, gather, gathers};
pub use memory::{
    AccessKind, AxisStride, BankModel, ConflictError, Conflicts, GlobalAccess, GlobalPlace, GlobalTensor, SharedAccess,
    SlotBit, access_global, access_shared, coalesced_layout, conflicts,
};
pub use prefetch::{Prefetch, PrefetchSpec, prefetch};
pub use price::{cost, slots};
pub use price::{slots_with_accesses, waited};
pub use reduce::{Reduction, reduce, reductions};
pub use rejected::Rejected;
pub(crate) use rejected::best_of;
pub use scan::{Scan, ScanDirection, scan};
pub use shared_bits::SharedBits;
pub use stats::PlanStats;
pub use tensor_allotment::{TensorMemoryAllocation, first_warp};
pub use tensor_memory::{TensorMoves, TensorTable};
pub use tuples::Combine;
