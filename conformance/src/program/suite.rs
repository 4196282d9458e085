//! A conformance command: a source of targets, and groups of cases.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Group, Mandatory, OpenError, Targets};

/// Function that opens the available targets. The given plugin files precede all other plugins; plugins run in the
/// given kind of process.
pub type OpenTargets = Box<dyn Fn(&[PathBuf], PluginIsolation) -> Result<Box<dyn Targets>, OpenError>>;

/// The process that a plugin runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginIsolation {
    /// A child process, for commands that must outlive the plugin; a call that exceeds this time limit kills the
    /// process.
    Process(Duration),
    /// This process, which is a worker that the runner watches. A second process around the plugin would show nothing
    /// more: a plugin that aborts or hangs ends the worker, and the runner reports the case, the signal and the last
    /// output.
    Worker,
}

/// The process that plugins run in when no case is running, with the time limit of one call.
pub(super) const OUTSIDE_OF_CASES: PluginIsolation = PluginIsolation::Process(Duration::from_secs(120));

/// A conformance command: a source of targets, and groups of cases. This package's binary is one; a vendor's command
/// may have further groups.
pub struct Suite {
    /// Function that opens targets.
    pub targets: OpenTargets,
    /// The groups that list the cases.
    pub groups: Vec<Box<dyn Group>>,
    /// The cases that a target must pass to claim a level of conformance.
    pub mandatory: Mandatory,
    /// Arguments that precede all others when the program starts itself as a worker process.
    pub prefix: Vec<OsString>,
}
