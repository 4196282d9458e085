//! Conversions in which blocks of a cluster need what others hold: every block stores what it has to its
//! own shared memory and loads what it needs from the nearest block that has it.
//!
//! Stores never leave a block, loads may: so what a block holds is one question within a block's memory
//! (`shared` answers it), and which block a load goes to is linear in the register, lane, warp and
//! block that ask. A barrier of the cluster lies between stores and loads, and one after the loads, for
//! a block may neither end nor store again while others read. Where every block has a copy of what it
//! needs, nothing leaves it, and barriers of the block are enough.

mod across_blocks;
mod distance;
mod emit;
mod plan;

pub(super) use across_blocks::Exchanged;
pub(super) use plan::{is_asked, plan};
