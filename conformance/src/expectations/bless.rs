//! The lists as a run would have them.

use std::collections::BTreeMap;

use super::read::{Written, WrittenEntry};
use super::{Entry, Expectations, List};
use crate::{CaseResult, Status};

/// The text of lists with which a run of these results (as they came out, before anybody judged them) would not fail.
/// Entries stay that are about none of the results, or about one that is as they say; each other result that needs
/// it is listed by name, those of one target and reason together.
///
/// # Errors
/// What the lists hold that cannot be written.
pub(crate) fn blessed(before: &Expectations, results: &[CaseResult]) -> Result<String, String> {
    let mut written = Written::default();
    let mut kept = Vec::new();
    for entry in &before.entries {
        let mut about = results.iter().filter(|result| entry.is_about(result)).peekable();
        if about.peek().is_none() || about.all(|result| holds(entry, result)) {
            list(&mut written, entry.list).push(WrittenEntry {
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
        list(&mut written, of).push(WrittenEntry { target, reason, message: None, cases });
    }
    toml::to_string_pretty(&written).map_err(|error| error.to_string())
}

fn list(written: &mut Written, list: List) -> &mut Vec<WrittenEntry> {
    match list {
        List::Unsupported => &mut written.unsupported,
        List::ExpectedFailure => &mut written.expected_failure,
        List::Flake => &mut written.flake,
    }
}

/// Whether the result is what the entry says; of a flake, whatever it was this time.
fn holds(entry: &Entry, result: &CaseResult) -> bool {
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
