//! Lowers warp specialization: `ttg.warp_specialize`.
//!
//! The default partition executes the whole program, including the first region of `ttg.warp_specialize`; each other
//! region is executed by additional warps, which execute nothing else. The block has the warps of all partitions.
//!
//! A partition is lowered as if its warps were the whole block: its layouts are for these warps, block barriers only
//! concern them, and warps are counted from the partition's first. Afterwards ([`named_barriers`]) block barriers
//! become named barriers (PTX `barrier.sync a, b`), with one number for each partition; number zero synchronizes all
//! partitions before the regions begin and after they end. Values that regions capture are rematerialized in each
//! partition if they follow from scalars alone; others pass through shared memory.
//!
//! If the program requests registers for the partitions and the target's lanes can change theirs, the code of
//! each warp group begins with a change ([`registers`]). Partitions are then in the order of their warps, the largest first, so that none
//! shares a part of its warp groups; idle warps complete the last warp group.

mod captured;
mod named_barriers;
mod partitions;
mod registers;
mod state;

pub(super) use partitions::{lowered, operation};
pub(super) use state::Groups;
