//! Arithmetic of kernel IR operations on the bits of single elements.
//!
//! `float` holds floating-point arithmetic, `function` math functions.

mod atomic;
mod bits;
mod float;
mod function;
mod integer;

pub(super) use atomic::{atomic, reduce_elements};
pub(super) use bits::{UNSPECIFIED, mask, sign_extend};
pub(super) use float::{float, float_compare, float_unary, to_integer};
pub(super) use function::{evaluate, is_evaluated};
pub(super) use integer::{compare, integer, integer_unary, permute_bytes};
