//! A conformance command: where its targets and its cases come from.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Group, Mandatory, OpenError, Targets};

/// Finds the targets that there are, with the given plugin files in front of all others, behind this isolation of plugins.
pub type OpenTargets = Box<dyn Fn(&[PathBuf], PluginIsolation) -> Result<Box<dyn Targets>, OpenError>>;

/// Whose process a plugin runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginIsolation {
    /// One of its own, for commands that must outlive it; a call that takes longer ends it.
    Process(Duration),
    /// This one: a worker, which the runner watches. A second process around the plugin would show nothing more, since a
    /// plugin that aborts or hangs ends the worker of its case, and the runner names the case, the signal and the last words.
    Worker,
}

/// The isolation outside of cases, and the time that a command waits for one call.
pub(super) const OUTSIDE_OF_CASES: PluginIsolation = PluginIsolation::Process(Duration::from_secs(120));

/// A conformance command: where targets come from, and the groups of cases. The product's own is
/// one; a vendor's may have groups of its own.
pub struct Suite {
    /// Where targets come from.
    pub targets: OpenTargets,
    /// Where cases come from.
    pub groups: Vec<Box<dyn Group>>,
    /// Which of them a target must have shown to claim a level.
    pub mandatory: Mandatory,
    /// Arguments that come before all others when the program starts itself as a worker.
    pub prefix: Vec<OsString>,
}
