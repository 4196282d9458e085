//! The simulated machine that executes programs: registers, memories, warps and blocks, with counts and checks.
//!
//! This module may import `tilewright_target`, `tilewright_kernel` (counts) and [`super::program`].

mod async_copies;
mod block;
mod bulk;
mod fault;
mod global;
mod grid;
mod in_flight;
mod lanes;
mod launch;
mod mbarrier;
mod memory;
mod metrics;
mod mma_reads;
mod operand;
mod register_pool;
mod registers;
mod running;
mod shared;
mod space;
mod stack;
mod tensor_map;
mod traffic;
mod warp;

pub use fault::{DeviceFault, DeviceFaultKind};
pub(super) use global::Global;
pub(super) use grid::run;
pub(super) use lanes::{Lanes, PartialLanes, each};
pub(super) use launch::Launch;
pub use launch::LaunchReport;
pub(super) use memory::{Access, Data};
pub(super) use operand::{Address, Compute, Destination};
pub(super) use registers::LANES;
pub(super) use running::{Arrival, Leaves, Next, Operation, RegisterChange, Running};
pub(super) use shared::Accessor;
pub use space::PtxSpace;
pub(super) use tensor_map::{BULK_ALIGNMENT, MAP_BYTES, Tensor};
pub(super) use traffic::CachePath;
