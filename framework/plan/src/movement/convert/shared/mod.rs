//! Conversions through shared memory: every element is stored once by one of those that hold it,
//! and loaded by all that want it, in one round or, where scratch is short, in several.

mod coordinates;
mod emit;
mod layouts;
mod plan;
mod scratch;

use plan::Sides;
pub(super) use plan::{least_slots, plan, stays_in_warps, within};
pub(super) use scratch::Scratch;
