//! What movements that are planned and run on the emulator are found to be.

use tilewright_emulator::RunReport;
use tilewright_plan::movement::{MovementError, PlanContext};
use tilewright_verify::{CheckFailure, TestCase, check_emulated};

use crate::{Level, Verdict};

/// The verdict where nothing was planned.
pub(super) fn refused(error: MovementError) -> Verdict {
    match error {
        MovementError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => Verdict::fail(Level::Layout, error.to_string()),
    }
}

/// Checks a test case on the emulator: what was executed, or the verdict on a plan that does not do what it says.
pub(super) fn executed<'a>(
    case: Result<TestCase, CheckFailure>,
    plan_context: impl Into<PlanContext<'a>>,
) -> Result<RunReport, Verdict> {
    case.and_then(|case| check_emulated(&case, plan_context))
        .map_err(|wrong| Verdict::fail(Level::Emulated, wrong.to_string()))
}

/// The verdict on a plan that does what it says: whether it meets its lower bound.
pub(super) fn at_bound(above_bound: Option<&str>) -> Verdict {
    match above_bound {
        None => Verdict::pass(Level::Emulated),
        Some(reason) => Verdict::quality(Level::Emulated, reason),
    }
}

/// Fails where more bytes were stored to shared memory than there are different ones to store.
pub(super) fn stores_once(report: &RunReport, different: u64) -> Result<(), Verdict> {
    if report.shared_bytes_stored <= different {
        return Ok(());
    }
    let stored = report.shared_bytes_stored;
    Err(Verdict::fail(Level::Emulated, format!("{stored} bytes were stored to shared memory, {different} differ")))
}

/// Either verdict.
pub(super) fn either(verdict: Result<Verdict, Verdict>) -> Verdict {
    verdict.unwrap_or_else(|verdict| verdict)
}
