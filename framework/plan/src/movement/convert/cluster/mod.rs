//! Conversions between the blocks of a cluster: every block stores its elements to its own shared memory, and loads
//! from the nearest block that holds the element (distributed shared memory).
//!
//! Stores stay within the block, loads need not. So the layout within one block's memory is planned as in `shared`, and
//! the block that a load accesses is linear in the register, lane, warp and block index. A cluster barrier separates
//! stores and loads. Another one follows the loads, since a block must neither exit nor store again while others read
//! its memory. If every block holds a replica of the elements that it needs, block barriers suffice.

mod across_blocks;
mod distance;
mod emit;
mod plan;

pub(super) use across_blocks::ClusterPlan;
pub(super) use plan::{crosses_blocks, plan};
