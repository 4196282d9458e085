//! Repeats failed cases to detect flakes (cases that pass only sometimes).

use super::{HarnessError, Runner};
use crate::{CaseResult, Status};

impl Runner {
    /// Repeats a failed case alone, up to the runner's number of retries. If one repetition passes, the result becomes
    /// a flake.
    pub(super) fn retried(&self, result: CaseResult) -> Result<CaseResult, HarnessError> {
        let case = std::slice::from_ref(&result.name);
        for retry in 1..=u32::from(self.retries) {
            let mut final_outcome = None;
            let broken = self.attempt(&result.target, case, &mut |_, outcome| final_outcome = Some(outcome))?;
            let Some(outcome) = final_outcome.filter(|outcome| broken.is_none() && !outcome.status.is_failure()) else {
                continue;
            };
            let mut flake = result;
            let (first, then) = (flake.outcome.status, outcome.status);
            let failures = if retry == 1 { "once".to_owned() } else { format!("{retry} times") };
            let detail = std::mem::take(&mut flake.outcome.detail);
            flake.outcome.detail = format!("{first} {failures}, then {then}; at first: {detail}");
            flake.outcome.status = Status::Flake;
            flake.outcome.level = None;
            return Ok(flake);
        }
        Ok(result)
    }
}
