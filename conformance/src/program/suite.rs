//! A conformance command: a source of targets to test, and groups of cases.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{CaseGroup, MandatoryCases, OpenError, TestableTargets};

/// Function that opens the available targets. The given plugin files precede all other plugins. The argument of type
/// [`PluginIsolation`] selects the process that plugins run in.
pub type OpenTargets = Box<dyn Fn(&[PathBuf], PluginIsolation) -> Result<Box<dyn TestableTargets>, OpenError>>;

/// The process that a plugin runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginIsolation {
    /// A child process, for commands that must outlive the plugin; a call that exceeds this time limit kills the
    /// process.
    Process(Duration),
    /// This process, which is a worker that the runner watches. A second process around the plugin would add no
    /// information: a plugin that aborts or hangs ends the worker, and the runner reports the case, the signal and the
    /// last output.
    Worker,
}

/// Isolation of plugins while no case is running: a child process, with this time limit for one call.
pub(super) const OUTSIDE_OF_CASES: PluginIsolation = PluginIsolation::Process(Duration::from_secs(120));

/// A conformance command: a source of targets to test, and groups of cases. This package's binary is one; a vendor's
/// command may have further groups.
pub struct Suite {
    /// Function that opens the targets to test.
    pub targets: OpenTargets,
    /// The groups that list the cases of the suite.
    pub groups: Vec<Box<dyn CaseGroup>>,
    /// The cases that a target must pass to claim a level of conformance.
    pub mandatory: MandatoryCases,
    /// Arguments that precede all others when the program starts a copy of itself as a worker process.
    pub prefix: Vec<OsString>,
}
