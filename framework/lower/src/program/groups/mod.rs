//! Groups of warps that do different things: `ttg.warp_specialize`.
//!
//! The warps that the program has do all of it, and of `ttg.warp_specialize` the first region; each further region is done by
//! warps of its own, behind those, which do nothing else. A block has as many warps as all groups have together.
//!
//! A group is lowered as if its warps were all there are: layouts are for so many, the block's barriers are the group's, and warps
//! are counted from its first. At the end ([`own`]) barriers of the block become barriers of so many warps, each group's of a number
//! of its own, and number zero is where all meet before the regions begin and after they have ended. What the regions take from
//! outside is made again in each group where it follows from numbers alone, and goes through shared memory else.

mod captured;
mod own;
mod partitions;
mod state;

pub(super) use partitions::{lowered, operation};
pub(super) use state::Groups;
