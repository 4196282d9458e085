//! Plans of data movement: layout conversions, memory accesses, copies, reductions, scans and gathers.
//!
//! A plan is a value made from layouts and target data alone: operations, counts, cost, lower bound.
//! [`plan_conversion`] compares the candidates for a layout conversion (Triton `ttg.convert_layout`) and returns the
//! cheapest; [`ConversionPlan::emit`] emits its kernel IR. Counts are derived from the layouts before anything is
//! emitted; the emulator derives them from the executed addresses, and both must be equal.

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
mod first_warp;
mod gather;
mod memory;
mod mma_barriers;
mod packing;
mod prefetch;
mod price;
mod reduce;
mod rejected;
mod scan;
mod shared_bits;
mod shuffle_source;
mod stats;
mod tensor_memory;
mod tile;
mod tmem_alloc;
mod variadic;

pub use address::emit_f2_product;
pub use address::{ClusterBlockBits, LinearAddressEmitter, ThreadIndices};
pub use block_load::{Block2dLoadPlan, BlockLoadSource};
pub use bound::CountLowerBounds;
pub use check::check_block_fits_target;
pub(crate) use check::check_size;
pub use choose::{
    AccessorStats, GlobalFetchLayout, LayoutPrefixConstraint, RankedSharedLayouts, ScratchLayout,
    SharedLayoutCandidate, SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor, WarpAddressedSharedCopy,
    choose_shared_layout,
};
pub(crate) use choose::{choose_shared_layout_with_prefix, wavefront_lower_bound};
pub use context::PlanContext;
pub use conversion::ConversionProblem;
pub use convert::{ConversionKind, ConversionPlan, ShuffleRounds, conversion_candidates, plan_conversion};
pub(crate) use copy::min_box_count;
pub use copy::{
    AsyncCopyPlan, AsyncCopySpec, BulkReduction, PointerToSharedCopy, PointerToSharedCopySpec, TensorCopy,
    TensorCopyGlobalTile, TensorPart, build_tensor_copy_memory_layout, find_warp_addressed_copy, plan_async_copy,
    plan_pointer_to_shared_copy, plan_tensor_copy_to_global, plan_tensor_copy_to_shared,
};
pub use descriptor_match::{DescriptorMatch, DescriptorMismatch, build_operand_memory_layout};
pub use error::MovementError;
pub use first_warp::emit_on_first_warp;
pub use gather::{GatherPlan, gather_candidates, plan_gather};
pub use memory::{
    AxisStride, BankConflicts, BankModel, CACHE_LINE_BYTES, ConflictError, GlobalAccessPlan, GlobalTensor,
    PredicatedGlobalAddress, SegmentOffsetBitSource, SharedAccessKind, SharedAccessPlan, count_bank_conflicts,
    find_coalesced_layout, plan_global_access, plan_shared_access,
};
pub use mma_barriers::MmaBarriers;
pub use prefetch::{PrefetchPlan, PrefetchSpec, plan_prefetch};
pub(crate) use price::SELECTS_PER_WAVEFRONT;
pub use price::{predict_cycles, price_counts_in_wavefronts};
pub use reduce::{ReductionPlan, plan_reduction, plan_reduction_to, reduction_candidates};
pub use rejected::RejectedCandidate;
pub(crate) use rejected::best_of;
pub use scan::{ScanDirection, ScanPlan, plan_scan};
pub use shared_bits::SharedMemoryBitsPerLane;
pub use stats::PlanStats;
pub use tensor_memory::{TensorMemoryMoveTable, TensorMemoryMoves};
pub use tmem_alloc::TensorMemoryAllocation;
pub use variadic::EmitCombine;
