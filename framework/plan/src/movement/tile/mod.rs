//! Accesses of shared memory as tiles that divide the map from positions to offsets.
//!
//! A tile says where each byte that a lane holds lies: in which slot of memory, at which byte of the
//! slot, and which lanes give the slots' addresses. Plain accesses of every width are tiles, whose slots
//! are the lanes' own; rows of an instruction table that move data are tiles as well. A tile divides a
//! side where its slots lie whole in memory and lanes within slots are at their places; registers may be
//! any, they are permuted freely. What is left of the registers numbers the accesses. A side may reach
//! the memories of other blocks of its cluster; each of these serves those that access it.

mod accesses;
mod bits;
mod division;
mod emit;
mod located;
mod reach;
mod slot;
mod stats;
mod wavefronts;

pub(super) use accesses::Accesses;
pub(super) use bits::{Source, Tile};
pub(super) use division::Placed;
pub(super) use emit::{Loads, Stores, moved, only_where};
pub(super) use located::{Located, Memory};
pub(super) use reach::Reach;
pub(super) use slot::{Way, slot};
pub(super) use stats::TileStats;
