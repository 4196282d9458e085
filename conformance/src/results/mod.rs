//! Results as they are kept: JSON lines, each whole as soon as it is written.
//!
//! A run writes one `begin`, one `case` for each outcome that is final, one `summary` for each target, the `error`s of the
//! harness, and one `end`. What was written stands, however the run ends; a run that goes on writes a `begin` of its
//! own behind it. Imports the outcomes only: what is made of results is `report`'s.

mod environment;
mod event;
mod kept;

pub use environment::{Environment, Host, ServingPlugin, Tested};
pub(crate) use environment::{digest, now};
pub(crate) use event::{Event, Lines};
pub(crate) use kept::append;
pub use kept::{Kept, KeptError};
