//! Conversions through shared memory: one thread that holds an element stores it, and every thread that needs it loads
//! it. The memory is filled once, or in several rounds if scratch memory is too small.

mod coordinates;
mod emit;
mod layouts;
mod plan;
pub(super) mod scratch;

use plan::Sides;
pub(super) use plan::{cycles_lower_bound, plan, stays_in_warps, within};
pub(super) use scratch::Scratch;
