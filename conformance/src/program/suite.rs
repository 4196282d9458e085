//! A conformance command: where its targets and its cases come from.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Group, Mandatory, OpenError, Targets};

/// Finds the targets that there are, with the given plugin files in front of all others, each of whose calls has so much time.
pub type OpenTargets = Box<dyn Fn(&[PathBuf], Duration) -> Result<Box<dyn Targets>, OpenError>>;

/// The time that one call of a plugin has outside of cases, on which a command waits.
pub(super) const CALL: Duration = Duration::from_secs(120);

/// The time that one has in a worker, whose cases the runner ends: no case has as much.
pub(super) const CALL_OF_CASE: Duration = Duration::from_secs(7 * 24 * 3600);

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
