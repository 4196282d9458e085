//! Allocates the shared buffers of a kernel, and inserts the barriers between their uses.
//!
//! Each data movement has a buffer of its own, with the barriers between the stores to it and the loads from it.
//! Buffers that are not live at the same time may share an address ([`assign_addresses`]); then, and if a loop reuses a
//! buffer, a block barrier must precede the reuse ([`barriers`]). Movements whose stores can be hoisted share one
//! barrier ([`merge_barriers`]), and consecutive ones a proxy fence ([`merge_fences`]). A program may also have tensors
//! of its own in shared memory. It annotates its accesses to them ([`annotations`]), and a block barrier is inserted
//! before an access with a hazard ([`since`]). Accesses of disjoint parts of a buffer ([`slices`]) have none: addresses
//! are compared as sums over loop iterations ([`index_analysis`]). The buffers that each value may point into, and so
//! the accesses of each buffer, are found by dataflow ([`uses`]): the alias classes of shared memory.

mod allocate;
mod annotations;
mod assign_addresses;
mod barriers;
mod index_analysis;
mod index_form;
mod merge_barriers;
mod merge_fences;
mod since;
mod slices;
#[cfg(test)]
mod tests;
mod uses;

pub(super) use allocate::{allocate_buffers, allocate_disjoint};
pub(super) use annotations::{Access, Annotations};
pub(super) use slices::{Offsets, Slice};
pub(super) use uses::ALL_GROUPS;
