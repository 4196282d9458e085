//! Verdicts on data movements that were planned, and on their kernels' runs on the emulator.

use tilewright_emulator::RunReport;
use tilewright_plan::movement::{MovementError, PlanContext};
use tilewright_verify::{CheckFailure, TestCase, check_emulated};

use crate::{EvidenceLevel, Verdict};

/// Converts an error of a planner to a verdict: unsupported if no plan is possible, otherwise a failure.
pub(super) fn planning_verdict(error: MovementError) -> Verdict {
    match error {
        MovementError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => Verdict::fail(EvidenceLevel::Layout, error.to_string()),
    }
}

/// Runs a test case on the emulator. Returns the emulator's report, or a failing verdict if the kernel's results or
/// operations differ from the plan.
pub(super) fn run_on_emulator<'a>(
    case: Result<TestCase, CheckFailure>,
    plan_context: impl Into<PlanContext<'a>>,
) -> Result<RunReport, Verdict> {
    case.and_then(|case| check_emulated(&case, plan_context))
        .map_err(|wrong| Verdict::fail(EvidenceLevel::Emulated, wrong.to_string()))
}

/// Returns the verdict on a correct plan: pass, or a note with the reason for a cost above the plan's lower bound.
pub(super) fn bound_verdict(above_bound: Option<&str>) -> Verdict {
    match above_bound {
        None => Verdict::pass(EvidenceLevel::Emulated),
        Some(reason) => Verdict::quality(EvidenceLevel::Emulated, reason),
    }
}

/// Fails if the kernel stored more than `different` bytes to shared memory, the number of distinct bytes to store.
pub(super) fn stores_once(report: &RunReport, different: u64) -> Result<(), Verdict> {
    if report.shared_bytes_stored <= different {
        return Ok(());
    }
    let stored = report.shared_bytes_stored;
    Err(Verdict::fail(
        EvidenceLevel::Emulated,
        format!("{stored} bytes were stored to shared memory, {different} differ"),
    ))
}

/// Returns the verdict of a check, from `Ok` or from `Err`.
pub(super) fn merge_verdicts(verdict: Result<Verdict, Verdict>) -> Verdict {
    verdict.unwrap_or_else(|verdict| verdict)
}
