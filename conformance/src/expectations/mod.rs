//! Expectations: lists of a target's known deviations (unsupported, failing and flaky cases), each with its reason.
//!
//! ```toml
//! [[unsupported]]                 # permanent: the target cannot do it
//! target = "mi250"
//! reason = "the matrix unit has no fp8"
//! cases = ["dot/*/f8*"]
//!
//! [[expected-failure]]            # temporary: a defect to be fixed
//! target = "mi*"
//! reason = "rows of two warps are swapped; issue 12"
//! message = "element (1, 2)"      # substring of the detail; optional
//! cases = ["reduce/mfma32x32-a/axis0/f16/64x64/w2"]
//!
//! [[flake]]                       # passes only sometimes
//! target = "max1550"
//! reason = "the runtime loses its device under load"
//! cases = ["dot/device"]
//! ```
//!
//! Targets and cases are globs, as on the command line. If a run is given lists, every unsupported, failing or flaky
//! case fails the run unless it is listed. A case listed as unsupported or as an expected failure that passes fails the
//! run too. A case is flaky if it fails and then passes when it is repeated (`--retries`); a case listed as a flake may
//! pass without a repetition, but fails the run if no repetition passes.

mod bless;
mod read;

use globset::GlobMatcher;

use crate::{CaseFilter, CaseResult, Status};

pub(crate) use bless::bless;
pub use read::ExpectationsError;

/// The lists of known deviations in a file.
#[derive(Debug, Default)]
pub struct Expectations {
    entries: Vec<Entry>,
}

/// The list that an entry is in: unsupported, expected failure or flake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Unsupported,
    ExpectedFailure,
    Flake,
}

#[derive(Debug)]
struct Entry {
    list: List,
    target: String,
    targets: GlobMatcher,
    names: Vec<String>,
    cases: CaseFilter,
    reason: String,
    message: Option<String>,
}

impl Entry {
    fn is_about(&self, result: &CaseResult) -> bool {
        self.targets.is_match(&result.target) && self.cases.matches(&result.name)
    }
}

impl Expectations {
    /// Judges a result by the lists: a listed deviation is accepted, an unlisted one fails the run.
    #[must_use]
    pub fn judge(&self, mut result: CaseResult) -> CaseResult {
        let entry = self.entries.iter().find(|entry| entry.is_about(&result));
        let (status, detail) = verdict(entry, &result);
        if status != result.outcome.status {
            result.outcome.status = status;
            result.outcome.detail = detail;
        }
        result
    }
}

/// Returns the status and the detail of a result, judged by the entry that matches it if there is one.
fn verdict(entry: Option<&Entry>, result: &CaseResult) -> (Status, String) {
    let (status, detail) = (result.outcome.status, &result.outcome.detail);
    let as_before = || (status, detail.clone());
    let Some(entry) = entry else {
        return match status {
            Status::Unsupported => (Status::Fail, format!("unsupported, and on no list: {detail}")),
            Status::Flake => (Status::Fail, format!("passes only sometimes, and on no list: {detail}")),
            _ => as_before(),
        };
    };
    let reason = &entry.reason;
    match (entry.list, status) {
        (List::ExpectedFailure, Status::Fail | Status::Crash | Status::Timeout) => match &entry.message {
            Some(message) if !detail.contains(message) => {
                (Status::Fail, format!("expected to fail with `{message}` ({reason}): {status}: {detail}"))
            }
            _ => (Status::XFail, format!("{reason}: {status}: {detail}")),
        },
        (List::Unsupported, Status::Unsupported) | (List::Flake, Status::Flake | Status::Pass | Status::Quality) => {
            as_before()
        }
        (_, Status::Pass | Status::Quality) => (Status::XPass, format!("{} ({reason}), but it passes", entry.list)),
        (_, Status::Unsupported | Status::Flake) => {
            (Status::Fail, format!("{} ({reason}), but {status}: {detail}", entry.list))
        }
        _ => as_before(),
    }
}

impl std::fmt::Display for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "listed as unsupported",
            Self::ExpectedFailure => "listed as an expected failure",
            Self::Flake => "listed as a flake",
        })
    }
}
