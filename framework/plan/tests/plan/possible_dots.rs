//! Random dots for tests: some are impossible, and planning them must give an error.

use proptest::test_runner::TestCaseError;
use tilewright_plan::mma;
use tilewright_plan::mma::{MmaError, MmaPlan, MmaProblem};
use tilewright_plan::movement::PlanContext;

/// Returns the plan of a dot; `None` if a lane of one warp cannot hold the matrices, or not the requested width along
/// K. Other tests check these errors.
pub fn planned_if_possible(problem: &MmaProblem, context: PlanContext<'_>) -> Result<Option<MmaPlan>, TestCaseError> {
    match mma::plan_mma(problem, context) {
        Err(MmaError::Impossible { reasons })
            if reasons.contains("elements of K, not") || reasons.contains("registers of 256") =>
        {
            Ok(None)
        }
        Err(error) => Err(TestCaseError::fail(format!("{problem:?}: {error}"))),
        Ok(plan) => Ok(Some(plan)),
    }
}
