//! Casts to and from the [element types](tilewright_target::ElementType) that the kernel IR's own casts do not support:
//! types of at most eight bits, and rounding modes other than to nearest.
//!
//! `widen` converts exactly to types that have all values of the source; `narrow` rounds to other types; `native` uses
//! the target's instructions.

mod narrow;
mod native;
mod widen;

pub use narrow::{NarrowRounding, Overflow, odd_single, round_to};
pub use native::NativeCasts;
pub use widen::{
    SCALING, as_single, carrier, cast, cast_all, decode_to_f32, element, is_possible, operations, widened_float_bits,
};
