//! Results files of runs: JSON lines, each written completely at once.
//!
//! A run writes one `begin`, one `case` for each final outcome, one `summary` for each target, the `error`s of the
//! harness, and one `end`. Written lines stay however the run ends; a resumed run appends another `begin`. This module
//! imports outcomes only; the module `report` formats reports.

mod environment;
mod event;
mod kept;

pub use environment::{Environment, Host, ServingPlugin, Tested};
pub(crate) use environment::{digest, now};
pub(crate) use event::{Event, Lines};
pub(crate) use kept::append;
pub use kept::{Kept, KeptError};
