//! Functions with bit-exact results: neighbours, exponents, remainders, and arithmetic with directed rounding.

mod directed;
mod float_bits;
mod left;

pub(super) use directed::{add, divide, fused, multiply, root};
pub(super) use float_bits::{logb, next_after, scaled_by};
