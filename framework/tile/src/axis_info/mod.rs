//! Axis information (Triton AxisInfo): static knowledge about integers and pointers, namely the step of each index bit,
//! divisibility, and ranges.
//!
//! Vectorized accesses depend on it (contiguous addresses and their alignment, along one axis or across several), as do
//! masks that are equal for a group of elements. All information holds for every run, under Triton's assumption that
//! signed arithmetic does not overflow.

mod apply;
mod arithmetic;
mod bitwise;
mod division;
mod flow;
mod fold;
mod groups;
mod hints;
mod info;
mod launch;
mod operations;
mod range;

pub use flow::AxisInfoMap;
pub use info::{AxisInfo, DimInfo, IndexBitPosition, IndexBitStep};
pub use launch::LaunchValues;
pub use range::IntegerRange;
