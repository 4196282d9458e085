//! Casts to and from the types of [`Number`](tilewright_target::ElementType) that the kernel IR's own casts do not know: those
//! of eight bits and fewer, and roundings other than to nearest.
//!
//! `widen` goes to types that have all values, exactly; `narrow` to others, by rounding.

mod narrow;
mod widen;

pub use narrow::{NarrowRounding, Overflow, odd_single, rounded};
pub use widen::{SCALING, as_single, carrier, cast, decoded, element, is_possible, operations, resized};
