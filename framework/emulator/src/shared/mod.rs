//! Shared memory of one block with race detection: for every byte, its last writer and the readers since, from any
//! block of the cluster. The crate's documentation has the rules.
//!
//! The required order is partial, so one record of each kind suffices for a byte: an access replaces a record that is
//! ordered before it, since any access ordered after it is also ordered after the record. Unordered reads merge into
//! one record of several readers.

mod accessor;
mod asynchronous;
mod atomic;
mod in_flight;
mod landing;
mod mbarrier;
mod mbarrier_operations;
mod shared_memory;

pub(super) use accessor::{Accessor, Epoch, Proxy, Record, describe, describe_in_block};
use accessor::{SEVERAL_LANES, race};
pub(super) use landing::CompletionEffect;
pub(super) use mbarrier::{Clock, clock_until, join};
pub(super) use shared_memory::SharedMemory;
