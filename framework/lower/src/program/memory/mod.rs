//! Accesses of global memory through tensors of pointers.

mod atomic;
mod groups;
mod load;
mod narrow_atomic;
mod once;
mod store;

pub(super) use atomic::{
    atomic, combines, compare_exchange, load as atomic_load, poll, read_modify_write, store as atomic_store,
};
pub(super) use groups::Groups;
pub(super) use load::{from_memory, load, loaded};
pub(super) use narrow_atomic::{Ordered, changed, combined};
pub(super) use store::{both, store, to_memory};
