//! The conformance suite: whether a target, its plugin and the code that comes out are right, and
//! to what [`Level`] that was shown.
//!
//! A [`Group`] builds [`Case`]s from what a target says of itself (its families' samples, its
//! instruction rows), so that a target that nobody here has heard of is tested like any other. A
//! case's name is all that is needed to run it again. The [`Runner`] executes cases in child
//! processes of the same program, so that a case which crashes or hangs costs only itself; a
//! [`Report`] counts what came out. [`Suite`] puts them together as a command: the product's
//! binary is one, a vendor's own with more groups may be another.
//!
//! The suite reaches vendors' code through [`tilewright_plugin::Target`] only, and links none.

mod answers;
mod case;
mod context;
mod devices;
mod expectations;
mod filter;
mod group;
pub mod groups;
mod mandatory;
mod outcome;
mod products;
mod program;
mod report;
mod results;
mod runner;
mod shard;
mod suggest;
mod targets;

pub use answers::{Answers, AnswersError, Row, Rows};
pub use case::{Case, Trials, Verdict};
pub use context::{Context, Thoroughness};
pub use devices::Devices;
pub use expectations::{Expectations, ExpectationsError};
pub use filter::{Filter, FilterError};
pub use group::{Group, ListError, list};
pub use mandatory::{Mandatory, MandatoryError};
pub use outcome::{CaseResult, Level, Outcome, Status};
pub use products::Products;
pub use program::{OpenTargets, PluginIsolation, Suite};
pub use report::{Exit, Report};
pub use results::{Environment, Host, Kept, KeptError, ServingPlugin, Tested};
pub use runner::{Batch, HarnessError, Runner, Worker};
pub use shard::Shard;
pub use targets::{OpenError, Targets};
