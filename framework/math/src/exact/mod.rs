//! Functions whose results are defined bit for bit: neighbours, exponents, remainders, and sums, products, quotients and roots
//! that are rounded in a direction.

mod directed;
mod left;
mod parts;

pub(super) use directed::{add, divide, fused, multiply, root};
pub(super) use parts::{logb, next_after, scaled_by};
