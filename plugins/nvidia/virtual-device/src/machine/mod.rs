//! What programs run on: registers, memories, warps, blocks, and what is counted and checked.
//!
//! May import `tilewright_target`, `tilewright_kernel` (counts) and [`super::program`].

mod block;
mod bulk;
mod fault;
mod flight;
mod global;
mod grid;
mod in_flight;
mod lanes;
mod launch;
mod mbarrier;
mod memory;
mod operand;
mod products;
mod registers;
mod running;
mod shared;
mod space;
mod stack;
mod tensor_map;
mod warp;

pub use fault::{DeviceFault, DeviceFaultKind};
pub(super) use global::Global;
pub(super) use grid::run;
pub(super) use lanes::{Lanes, each};
pub(super) use launch::Launch;
pub use launch::LaunchReport;
pub(super) use memory::{Access, Data};
pub(super) use operand::{Address, Place};
pub(super) use registers::LANES;
pub(super) use running::{Arrival, Leaves, Next, Operation, Running};
pub(super) use shared::Accessor;
pub use space::PtxSpace;
pub(super) use tensor_map::{GRAIN, MAP_BYTES, Tensor};
