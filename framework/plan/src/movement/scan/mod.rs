//! Inclusive scans along an axis of a distributed layout (Triton `tt.scan`).
//!
//! The steps combine the halves of blocks of 2, then 4, then 8, ... consecutive elements: every element of the upper
//! half is combined with the last value of the lower half; a reverse scan exchanges the halves. Within a lane this
//! needs registers only, within a warp one shuffle for each fetched value. If a lane has several registers along the
//! axis, only its total takes part in the steps between lanes, and the other registers add the totals of the preceding
//! lanes. From the first axis bit that warps hold, a layout conversion brings the totals of the blocks so far to all
//! threads that need them. If that is more expensive, the tensor is converted to a layout with whole lines (all
//! elements along the axis) in each lane, scanned there, and converted back.

mod direction;
mod lanes;
mod levels;
mod plan;
mod problem;
mod totals;

pub use direction::ScanDirection;
pub use plan::{ScanPlan, plan_scan};
