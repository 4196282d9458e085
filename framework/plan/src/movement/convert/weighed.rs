//! Collects the candidates of a conversion.

use super::plan::{ConversionKind, ConversionPlan};
use crate::movement::Rejected;

/// The best plan of each kind so far, and the rejected kinds with the reasons.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) plans: Vec<ConversionPlan>,
    pub(super) rejected: Vec<Rejected<ConversionKind>>,
    /// Whether candidates that cannot become the best are skipped.
    pub(super) quick: bool,
}

impl Weighed {
    /// The cycles that a candidate must stay below to improve on the best; infinite unless `quick` is set and a plan is
    /// known.
    pub(super) fn most(&self) -> f64 {
        let known = self.plans.iter().map(|plan| plan.stats.cost);
        if self.quick { known.fold(f64::INFINITY, f64::min) } else { f64::INFINITY }
    }

    pub(super) fn add(&mut self, path: ConversionKind, planned: Result<ConversionPlan, String>) {
        let plan = match planned {
            Ok(plan) => plan,
            Err(reason) => return self.rejected.push(Rejected { candidate: path, reason }),
        };
        match self.plans.iter_mut().find(|known| known.path == plan.path) {
            Some(known) if known.compare(&plan).is_le() => {}
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
    }
}
