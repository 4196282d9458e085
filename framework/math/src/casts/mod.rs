//! Casts to and from the [element types](tilewright_target::ElementType) that the kernel IR's own casts do not support:
//! types of at most eight bits, and rounding modes other than to nearest.
//!
//! `widen` converts exactly to types that have all values of the source; `narrow` rounds to other types; `native` uses
//! the target's instructions.

mod narrow;
mod native;
mod upper_byte;
mod widen;

pub use narrow::{NarrowRounding, Overflow, emit_round_to_format, emit_round_to_odd_f32};
pub use native::NativeCasts;
pub use widen::{
    SCALING_OPERATION_COUNT, carrier_type, cast_operation_count, emit_cast, emit_casts, emit_decode_to_f32,
    emit_exact_cast_bits, emit_widen_to_f32, is_cast_supported, kernel_element,
};
