//! Lowers accesses of global memory through pointers and tensors of pointers.

mod addresses;
mod atomic;
mod broadcast;
mod groups;
mod load;
mod narrow_atomic;
mod replica_order;
mod store;

pub(super) use atomic::{
    atomic, check_atomic_element, compare_exchange, load as atomic_load, poll, read_modify_write, store as atomic_store,
};
pub(super) use groups::VectorGroups;
pub(super) use load::{from_memory, load, loaded};
pub(super) use narrow_atomic::{Ordered, combined, emit_compare_and_swap_loop};
pub(super) use replica_order::find_accesses_to_order;
pub(super) use store::{both, store, to_memory};
