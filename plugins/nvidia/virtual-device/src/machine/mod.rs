//! What programs run on: registers, memories, warps, blocks, and what is counted and checked.
//!
//! May import `tilewright_target`, `tilewright_kernel` (counts) and [`super::program`].

mod block;
mod bulk;
mod fault;
mod flight;
mod global;
mod lanes;
mod launch;
mod mbarrier;
mod memory;
mod products;
mod registers;
mod running;
mod shared;
mod stack;
mod tensor_map;
mod warp;

pub use fault::{DeviceFault, DeviceFaultKind};
pub(super) use global::Global;
pub(super) use lanes::{Lanes, each};
pub use launch::LaunchReport;
pub(super) use launch::{Launch, run};
pub use memory::PtxSpace;
pub(super) use memory::{Access, Data, LANES};
pub(super) use running::{Address, Arrival, Leaves, Next, Operation, Running};
pub(super) use shared::Accessor;
pub(super) use tensor_map::{GRAIN, MAP_BYTES, Tensor};
