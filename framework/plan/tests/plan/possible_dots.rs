//! Dots drawn at random: some cannot be had, and say so.

use proptest::test_runner::TestCaseError;
use tilewright_plan::contract;
use tilewright_plan::contract::{ContractError, Contraction, MmaProblem};
use tilewright_plan::movement::PlanContext;

/// The plan; none where a lane of one warp cannot hold the matrices, or not the width along K that is asked for. That
/// both say so, other tests tell.
pub fn planned_if_possible(
    problem: &MmaProblem,
    context: PlanContext<'_>,
) -> Result<Option<Contraction>, TestCaseError> {
    match contract::plan(problem, context) {
        Err(ContractError::Impossible { reasons })
            if reasons.contains("elements of K at most") || reasons.ends_with("registers of 256") =>
        {
            Ok(None)
        }
        Err(error) => Err(TestCaseError::fail(format!("{problem:?}: {error}"))),
        Ok(plan) => Ok(Some(plan)),
    }
}
