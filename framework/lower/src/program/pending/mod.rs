//! Products that go on while the program does: those that the program marks with [`PENDING`](tilewright_tile::marks::PENDING), where a unit of the target reads
//! both factors where they lie in shared memory and gives its sums later.
//!
//! Which ones they are is found for the whole program before anything is written, for their sums may only go to another such
//! product, round a loop, or to `tw.await_products`. Where one goes elsewhere, all that it is added to are done at once, which
//! means the same. A wait for all but some products says what of its operands is there by how many were issued since.

mod found;
mod in_flight;
mod state;

pub(super) use found::planned;
pub(super) use in_flight::{awaited, product};
pub(super) use state::{Pending, UnderWay};
