//! Shared memory of one block, with what is needed to find races: for every byte, who wrote it last
//! and who has read it since, be it the block or another of its cluster. The rules are in the module's doc.
//!
//! What must come before an access is a partial order, so one record of each kind is enough: a
//! record is replaced by an access that comes after it, for whatever comes after that access comes
//! after the record too. Reads that nothing orders are joined into one record, as reads by several.

mod accessor;
mod asynchronous;
mod atomic;
mod flight;
mod landing;
mod mbarrier;
mod mbarrier_operations;
mod shared_memory;

pub(super) use accessor::{Accessor, Epoch, Proxy, Record, described, seen_by_own};
use accessor::{SEVERAL_LANES, race};
pub(super) use landing::Landing;
pub(super) use mbarrier::{Clock, join, until};
pub(super) use shared_memory::SharedMemory;
