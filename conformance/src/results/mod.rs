//! Results files of runs: JSON lines, each written completely at once.
//!
//! A run writes one `begin`, one `case` for each final outcome, one `summary` for each target, the `error`s of the
//! harness (the program that runs the cases), and one `end`. Written lines stay however the run ends; a resumed run
//! appends another `begin`. This module does not import the module `report`, which formats reports.

mod environment;
mod event;
mod kept;

pub use environment::{HostMachine, RunMetadata, ServingPluginRecord, TestedTargetRecord};
pub(crate) use environment::{digest, now};
pub(crate) use event::{Event, Lines};
pub(crate) use kept::append;
pub use kept::{EarlierResults, ResultsFileError};
