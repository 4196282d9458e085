//! Loads of a loop that go ahead of what uses them.
//!
//! In a loop whose layouts are assigned, what is loaded is brought to another layout, or to the memory that a unit reads,
//! through shared memory: it waits for global memory in every turn. [`loops`] finds the loads of which that is so, and what
//! they follow from; [`write`](fn@write) writes the loop anew: a load is issued for a turn to come, to one of several buffers in shared
//! memory, and a turn reads the buffer that was filled for it.
//!
//! A load goes by a copy past the registers ([`Way::Copy`]), as many turns ahead as there are buffers less one, or by
//! registers ([`Way::Registers`]), one turn ahead: it is issued when the turn begins and stored when it ends. The block meets
//! once a turn. What is chosen is given ([`Staged`]): who chooses is the engine.
//!
//! - `found`: the loads;
//! - `follows`: what a load follows from, which is done ahead too;
//! - `kept`: what is left of a turn;
//! - `turn`: the state of a turn that is ahead;
//! - `written`: the loop.

mod follows;
mod found;
mod kept;
mod staged;
mod turn;
mod written;

pub use found::{Asks, Load, Loop, Reader, loops};
pub use staged::{Fetch, REGISTER_BUFFERS, Staged, Way};
pub use written::write;
