//! Accesses of shared memory as tiles that divide the map from positions to offsets (left division of Linear Layouts).
//!
//! A tile describes one access instruction: the slot (contiguous bytes at one address) and the byte in it of each byte
//! that a lane holds, and the lanes that give the addresses of slots. Plain accesses of every width are tiles with one
//! slot for each lane; the data-movement instructions of the table (such as `ldmatrix`) are tiles as well. A tile
//! divides an accessor's layout if its slots are contiguous in memory and lanes within slots have the required offsets.
//! Registers are permuted freely; the registers that remain number the accesses. An accessor may reach the memories of
//! other blocks of its cluster; each memory serves the lanes that access it.

mod accesses;
mod bits;
mod division;
mod emit;
mod located;
mod reach;
mod segment;
mod sharing;
mod stats;
mod wavefronts;

pub(super) use accesses::Accesses;
pub(super) use bits::{Source, Tile};
pub(super) use division::PlacedAccessor;
pub(super) use emit::{Loads, Stores, emit_pointer, emit_warp_branch};
pub(super) use located::{LocatedAccessor, Memory, Phase};
pub(super) use reach::Reach;
pub(super) use segment::{TiledSide, find_common_registers, find_common_segment};
pub(super) use sharing::Share;
pub(super) use stats::TileStats;
