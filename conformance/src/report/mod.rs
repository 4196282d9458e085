//! Totals of a run: counts by target, status and level, and the exit status.

mod html;
mod human;
pub(crate) mod json;
mod junit;
mod progress;
mod reasons;
mod table;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use crate::{CaseResult, EvidenceLevel, HarnessError, Status};

pub(crate) use html::html;
pub(crate) use human::Human;
pub(crate) use junit::junit;
pub(crate) use progress::Progress;
pub(crate) use table::table;

/// Exit status of the program. Its numbers are part of the program's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitStatus {
    /// Every case ran, and none failed.
    Ok = 0,
    /// Every case ran, and some failed, crashed or timed out.
    Failures = 1,
    /// The command line is invalid, or names a target, case or file that does not exist.
    Usage = 2,
    /// The harness (the program that runs the cases) failed: some cases were not run.
    Harness = 3,
    /// The user ended the run before all cases were run: 128 plus the number of the signal, as in shells.
    Interrupted = 130,
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}

/// Counts of the cases of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Number of cases that were chosen to run.
    pub(crate) chosen: usize,
    /// Number of cases that ran, by status.
    pub(crate) statuses: BTreeMap<Status, usize>,
    /// Number of cases that passed, by level of evidence.
    pub(crate) levels: BTreeMap<EvidenceLevel, usize>,
    /// Number of cases that ran, by group and status.
    pub(crate) groups: BTreeMap<String, BTreeMap<Status, usize>>,
    /// Number of cases that passed, by group and level of evidence.
    pub(crate) group_levels: BTreeMap<String, BTreeMap<EvidenceLevel, usize>>,
    /// Names of unsupported, skipped, flaky and expectedly failing cases, by status and reason.
    pub(crate) reasons: BTreeMap<(Status, String), Vec<String>>,
}

impl Tally {
    /// Returns the number of chosen cases that have an outcome.
    pub(crate) fn ran(&self) -> usize {
        self.statuses.values().sum()
    }

    /// Returns the number of chosen cases without an outcome.
    pub(crate) fn not_run(&self) -> usize {
        self.chosen - self.ran().min(self.chosen)
    }

    fn add(&mut self, result: &CaseResult) {
        let outcome = &result.outcome;
        let group = result.name.split('/').next().unwrap_or_default();
        *self.statuses.entry(outcome.status).or_default() += 1;
        *self.groups.entry(group.to_owned()).or_default().entry(outcome.status).or_default() += 1;
        match (outcome.status, outcome.level) {
            (Status::Pass | Status::Quality, Some(level)) => {
                *self.levels.entry(level).or_default() += 1;
                *self.group_levels.entry(group.to_owned()).or_default().entry(level).or_default() += 1;
            }
            (Status::Unsupported | Status::Skip | Status::Flake | Status::XFail, _) => {
                self.reasons.entry((outcome.status, outcome.detail.clone())).or_default().push(result.name.clone());
            }
            _ => {}
        }
    }
}

/// The results of a run so far, by target.
#[derive(Debug, Default)]
pub struct Report {
    targets: BTreeMap<String, Tally>,
    results: Vec<CaseResult>,
    errors: Vec<HarnessError>,
    interrupted: bool,
}

impl Report {
    /// Creates a report for targets with these numbers of chosen cases.
    pub fn new(chosen: impl IntoIterator<Item = (String, usize)>) -> Self {
        let tally = |chosen| Tally { chosen, ..Tally::default() };
        let targets = chosen.into_iter().map(|(target, chosen)| (target, tally(chosen))).collect();
        Self { targets, results: Vec::new(), errors: Vec::new(), interrupted: false }
    }

    /// Adds the outcome of a case to the counts and the list of results.
    pub fn add(&mut self, result: CaseResult) {
        self.targets.entry(result.target.clone()).or_default().add(&result);
        self.results.push(result);
    }

    /// Returns at most `count` of the cases that took longer than `than`, the slowest first.
    pub(crate) fn slowest(&self, count: usize, than: Duration) -> Vec<&CaseResult> {
        let mut slow: Vec<_> = self.results.iter().filter(|result| result.outcome.duration > than).collect();
        slow.sort_by_key(|result| std::cmp::Reverse(result.outcome.duration));
        slow.truncate(count);
        slow
    }

    /// Adds failures of the harness (the program that runs the cases), which are not outcomes of cases.
    pub fn add_errors(&mut self, errors: Vec<HarnessError>) {
        self.errors.extend(errors);
    }

    /// Records that the user ended the run before all cases had run.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Returns the number of cases of all targets with this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.targets.values().filter_map(|tally| tally.statuses.get(&status)).sum()
    }

    /// Returns the number of chosen cases of all targets without an outcome.
    #[must_use]
    pub fn count_not_run(&self) -> usize {
        self.targets.values().map(Tally::not_run).sum()
    }

    /// Returns the exit status of the program. A case without an outcome never counts as a pass.
    #[must_use]
    pub fn exit_status(&self) -> ExitStatus {
        if self.interrupted && self.count_not_run() > 0 {
            ExitStatus::Interrupted
        } else if !self.errors.is_empty() || self.count_not_run() > 0 {
            ExitStatus::Harness
        } else if Status::ALL.iter().any(|&status| status.is_failure() && self.count(status) > 0) {
            ExitStatus::Failures
        } else {
            ExitStatus::Ok
        }
    }
}
