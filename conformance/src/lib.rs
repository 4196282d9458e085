//! The conformance suite: checks a target, its plugin and the generated code, and reports the [`EvidenceLevel`] of
//! evidence (from layout algebra to a run on a device) for each check.
//!
//! A [`CaseGroup`] builds [`Case`]s from the target's own data (sample layouts of its families, its instruction table),
//! so that targets of third parties are tested like any other. A case's name suffices to run the case again. The
//! [`Runner`] executes cases in child processes of the same program, so that a crash or hang costs one case only; a
//! [`Report`] counts outcomes. [`Suite`] combines these as a command: this package's binary is one, and a vendor may
//! build another with further groups.
//!
//! The suite calls vendor code through [`tilewright_plugin::Target`] only, and links none.

mod answers;
mod case;
mod catalogue_targets;
mod context;
mod devices;
mod expectations;
mod filter;
mod group;
pub mod groups;
mod mandatory;
mod outcome;
mod program;
mod report;
mod results;
mod runner;
mod shard;
mod suggest;
mod targets;

pub use answers::{AnswersError, KnownAnswer, KnownAnswers, KnownAnswersBySubject};
pub use case::{Case, CaseKernels, Verdict};
pub use catalogue_targets::CatalogueTargets;
pub use context::{Context, Thoroughness};
pub use devices::LazyDevice;
pub use expectations::{Expectations, ExpectationsError};
pub use filter::{CaseFilter, FilterError};
pub use group::{CaseGroup, CaseNameError, list_cases};
pub use mandatory::{MandatoryCases, MandatoryListError};
pub use outcome::{CaseResult, EvidenceLevel, Outcome, Status};
pub use program::{OpenTargets, PluginIsolation, Suite};
pub use report::{ExitStatus, Report};
pub use results::{
    EarlierResults, HostMachine, ResultsFileError, RunMetadata, ServingPluginRecord, TestedTargetRecord,
};
pub use runner::{CaseBatch, HarnessError, Runner, WorkerCommand};
pub use shard::Shard;
pub use targets::{OpenError, TestableTargets};
