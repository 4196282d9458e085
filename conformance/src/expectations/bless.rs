//! Writes the lists of expectations (known deviations) with which a run passes.

use std::collections::BTreeMap;

use super::read::{ExpectationsFile, ExpectationsFileEntry};
use super::{Entry, Expectations, List};
use crate::{CaseResult, Status};

/// Returns the text of lists with which a run with these results passes. `before` are the present lists; `results` have
/// not been judged by them.
///
/// Entries of `before` stay if they match no result or agree with the results that they match, so that hand-written
/// reasons are kept. Every other result that needs an entry is listed by name, grouped by target and reason.
///
/// # Errors
/// A message if the lists have a value that TOML cannot represent.
pub(crate) fn bless(before: &Expectations, results: &[CaseResult]) -> Result<String, String> {
    let mut written = ExpectationsFile::default();
    let mut kept = Vec::new();
    for entry in &before.entries {
        let mut about = results.iter().filter(|result| entry.is_about(result)).peekable();
        if about.peek().is_none() || about.all(|result| entry_matches(entry, result)) {
            list(&mut written, entry.list).push(ExpectationsFileEntry {
                target: entry.target.clone(),
                reason: entry.reason.clone(),
                message: entry.message.clone(),
                cases: entry.names.clone(),
            });
            kept.push(entry);
        }
    }
    let mut new: BTreeMap<(List, String, String), Vec<String>> = BTreeMap::new();
    for result in results {
        let listed = kept.iter().any(|entry| entry.is_about(result));
        if let (false, Some(of)) = (listed, belongs(result.outcome.status)) {
            let reason = result.outcome.detail.lines().next().unwrap_or_default();
            let reason = if reason.is_empty() { "no reason was given" } else { reason };
            new.entry((of, result.target.clone(), reason.to_owned())).or_default().push(result.name.clone());
        }
    }
    for ((of, target, reason), cases) in new {
        list(&mut written, of).push(ExpectationsFileEntry { target, reason, message: None, cases });
    }
    toml::to_string_pretty(&written).map_err(|error| error.to_string())
}

fn list(written: &mut ExpectationsFile, list: List) -> &mut Vec<ExpectationsFileEntry> {
    match list {
        List::Unsupported => &mut written.unsupported,
        List::ExpectedFailure => &mut written.expected_failure,
        List::Flake => &mut written.flake,
    }
}

/// Whether a run passes with this result and this entry of a list for its case. An entry of the list of flakes accepts
/// both a flaky and a passing result.
fn entry_matches(entry: &Entry, result: &CaseResult) -> bool {
    let status = super::verdict(Some(entry), result).0;
    !status.is_failure()
}

fn belongs(status: Status) -> Option<List> {
    match status {
        Status::Unsupported => Some(List::Unsupported),
        Status::Fail | Status::Crash | Status::Timeout => Some(List::ExpectedFailure),
        Status::Flake => Some(List::Flake),
        Status::Pass | Status::Quality | Status::Skip | Status::XFail | Status::XPass => None,
    }
}
