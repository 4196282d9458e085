//! What operations compute, one element at a time, on bits.
//!
//! `float` has floating-point numbers, `function` their functions.

mod float;
mod function;
mod integer;

pub(super) use float::{float, float_compare, float_unary, to_integer};
pub(super) use function::{evaluate, is_evaluated};
use integer::{UNSPECIFIED, map, zip};
pub(super) use integer::{atomic, compare, integer, integer_unary, mask, permute_bytes, sign_extend};
