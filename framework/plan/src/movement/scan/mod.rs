//! Inclusive scans along an axis of a distributed layout.
//!
//! Blocks of 2, 4, 8, ... neighbours are scanned in turn: every element of an upper half combines the
//! last value of the lower half with its own. Within a lane that is register work, within a warp one
//! exchange for each value that is fetched. From the first axis bit that warps hold on, the totals of
//! the blocks so far are moved by an ordinary conversion to all that need them. Where that is dearer,
//! the tensor is converted to a layout whose lanes hold whole lines, scanned there, and converted back.

mod direction;
mod levels;
mod plan;
mod problem;
mod totals;

pub use direction::ScanDirection;
pub use plan::{Scan, scan};
