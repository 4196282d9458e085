//! What is known of integers and pointers before a program runs: which neighbours follow each other or are the same, by
//! what they can be divided, between which bounds they lie.
//!
//! Wide accesses follow from it (how many neighbours have neighbouring addresses, and how these are aligned), and masks that
//! are the same for all of them. Every fact holds of every run, as long as sums and products of signed integers do not
//! leave their type, as Triton takes it too.

mod apply;
mod arithmetic;
mod fact;
mod flow;
mod operations;
mod range;

pub use fact::{AxisInfo, DimInfo};
pub use flow::AxisInfoMap;
pub use range::Range;
