//! Running again what failed.

use super::{HarnessError, Runner};
use crate::{CaseResult, Status};

impl Runner {
    /// The result of a case that failed, after it has been run again, alone, as often as the runner retries: a flake
    /// where one of these times everything held.
    pub(super) fn retried(&self, result: CaseResult) -> Result<CaseResult, HarnessError> {
        let case = std::slice::from_ref(&result.name);
        for again in 1..=u32::from(self.retries) {
            let mut ended = None;
            let broken = self.attempt(&result.target, case, &mut |_, outcome| ended = Some(outcome))?;
            let Some(outcome) = ended.filter(|outcome| broken.is_none() && !outcome.status.is_failure()) else {
                continue;
            };
            let mut flake = result;
            let (first, then) = (flake.outcome.status, outcome.status);
            let failures = if again == 1 { "once".to_owned() } else { format!("{again} times") };
            let detail = std::mem::take(&mut flake.outcome.detail);
            flake.outcome.detail = format!("{first} {failures}, then {then}; at first: {detail}");
            flake.outcome.status = Status::Flake;
            flake.outcome.level = None;
            return Ok(flake);
        }
        Ok(result)
    }
}
