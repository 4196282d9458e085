//! Collects the candidates of a conversion.

use super::plan::{ConversionKind, ConversionPlan};
use crate::movement::RejectedCandidate;

/// The candidates of a conversion so far: the best plan of each kind, and the rejected kinds with the reasons.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) plans: Vec<ConversionPlan>,
    pub(super) rejected: Vec<RejectedCandidate<ConversionKind>>,
    /// Whether to skip candidates that cannot take fewer cycles than the best plan so far.
    pub(super) quick: bool,
}

impl Weighed {
    /// Returns the cycles that a candidate must stay below to be better than the best plan so far; infinite if `quick`
    /// is not set or no plan is known.
    pub(super) fn most(&self) -> f64 {
        let known = self.plans.iter().map(|plan| plan.stats.cost);
        if self.quick { known.fold(f64::INFINITY, f64::min) } else { f64::INFINITY }
    }

    pub(super) fn add(&mut self, path: ConversionKind, planned: Result<ConversionPlan, String>) {
        let plan = match planned {
            Ok(plan) => plan,
            Err(reason) => return self.rejected.push(RejectedCandidate { candidate: path, reason }),
        };
        match self.plans.iter_mut().find(|known| known.path == plan.path) {
            Some(known) if known.compare_cost(&plan).is_le() => {}
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
    }
}
