//! Axis information (Triton AxisInfo): static knowledge about integers and pointers, namely contiguity, constancy and
//! divisibility along each axis, and ranges.
//!
//! Vectorized accesses depend on it (contiguous addresses and their alignment), as do masks that are equal for a group
//! of elements. All information holds for every run, under Triton's assumption that signed arithmetic does not
//! overflow.

mod apply;
mod arithmetic;
mod flow;
mod info;
mod operations;
mod range;

pub use flow::AxisInfoMap;
pub use info::{AxisInfo, DimInfo};
pub use range::Range;
