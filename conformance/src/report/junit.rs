//! Reports a run as JUnit XML for continuous integration: a test suite for each target and group.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, Report as JUnit, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::{CaseResult, Status};

/// Returns the report as JUnit XML; `repro` formats the command that runs a case again.
///
/// # Errors
/// A message if the report cannot be serialised.
pub(crate) fn junit(report: &Report, repro: impl Fn(&CaseResult) -> String) -> Result<String, String> {
    let mut suites: BTreeMap<String, TestSuite> = BTreeMap::new();
    for result in &report.results {
        let group = result.name.split('/').next().unwrap_or_default();
        let name = format!("{}/{group}", result.target);
        suites.entry(name.clone()).or_insert_with(|| TestSuite::new(name)).add_test_case(case(result, &repro));
    }
    let mut junit = JUnit::new("conformance");
    for error in &report.errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(error.to_string());
        suites
            .entry("harness".to_owned())
            .or_insert_with(|| TestSuite::new("harness"))
            .add_test_case(TestCase::new("harness", status));
    }
    junit.add_test_suites(suites.into_values());
    junit.to_string().map_err(|error| error.to_string())
}

fn case(result: &CaseResult, repro: impl Fn(&CaseResult) -> String) -> TestCase {
    let outcome = &result.outcome;
    let status = match outcome.status {
        Status::Pass | Status::Quality | Status::Flake => TestCaseStatus::success(),
        Status::Unsupported | Status::Skip | Status::XFail => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("{}: {}", outcome.status, outcome.detail));
            status
        }
        Status::Fail | Status::XPass => failed(NonSuccessKind::Failure, result, repro),
        Status::Crash | Status::Timeout => failed(NonSuccessKind::Error, result, repro),
    };
    let mut case = TestCase::new(result.name.clone(), status);
    case.set_classname(result.target.clone()).set_time(outcome.duration);
    if let (true, Some(level)) = (outcome.status.is_correct(), outcome.level) {
        case.add_property(("level", level.name()));
    }
    if matches!(outcome.status, Status::Quality | Status::Flake) {
        case.set_system_out(format!("{}: {}", outcome.status, outcome.detail));
    }
    case
}

fn failed(kind: NonSuccessKind, result: &CaseResult, repro: impl Fn(&CaseResult) -> String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    let first = result.outcome.detail.lines().next().unwrap_or_default();
    status.set_type(result.outcome.status.name()).set_message(first.to_owned());
    status.set_description(format!("{}\nrerun: {}", result.outcome.detail, repro(result)));
    status
}
