//! What is known of a target beforehand: lists, each entry with its reason.
//!
//! ```toml
//! [[unsupported]]                 # for good: the target has no way to do it
//! target = "mi250"
//! reason = "the matrix unit has no fp8"
//! cases = ["dot/*/f8*"]
//!
//! [[expected-failure]]            # for the time being: it is to be mended
//! target = "mi*"
//! reason = "rows of two warps are swapped; issue 12"
//! message = "element (1, 2)"      # what the detail must have in it; may be left out
//! cases = ["reduce/mfma32x32-a/axis0/f16/64x64/w2"]
//!
//! [[flake]]                       # passes only sometimes
//! target = "max1550"
//! reason = "the runtime loses its device under load"
//! cases = ["dot/device"]
//! ```
//!
//! Targets and cases are globs, as on the command line. With such lists nothing goes by unnoticed: what is unsupported, fails or
//! passes only sometimes fails the run unless it is listed, and so does what is listed and passes.

mod bless;
mod read;

use globset::GlobMatcher;

use crate::{CaseResult, Filter, Status};

pub(crate) use bless::blessed;
pub use read::ExpectationsError;

/// The lists of a file.
#[derive(Debug, Default)]
pub struct Expectations {
    entries: Vec<Entry>,
}

/// Which list an entry is in.
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
    cases: Filter,
    reason: String,
    message: Option<String>,
}

impl Entry {
    fn is_about(&self, result: &CaseResult) -> bool {
        self.targets.is_match(&result.target) && self.cases.chooses(&result.name)
    }
}

impl Expectations {
    /// What a result means to one who knows the lists.
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

/// The status and the detail of a result about which the lists have this entry.
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
