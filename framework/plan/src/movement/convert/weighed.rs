//! Collects the candidates of a conversion.

use super::plan::{ConversionKind, ConversionPlan};
use crate::movement::{Rejected, price};

/// The best plan of each kind so far, and the rejected kinds with the reasons.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) plans: Vec<ConversionPlan>,
    pub(super) rejected: Vec<Rejected<ConversionKind>>,
    /// Whether candidates that cannot become the best are skipped.
    pub(super) quick: bool,
    /// The price of one shared-memory access besides its wavefronts; see [`PlanContext`](crate::movement::PlanContext).
    pub(super) access_price: f64,
}

impl Weighed {
    /// The price from which on a plan is no improvement, in wavefronts.
    pub(super) fn most(&self) -> f64 {
        let known = self.plans.iter().map(|plan| price::price_with_accesses(&plan.stats.counts, self.access_price));
        if self.quick { known.fold(f64::INFINITY, f64::min) } else { f64::INFINITY }
    }

    pub(super) fn add(&mut self, path: ConversionKind, planned: Result<ConversionPlan, String>) {
        let plan = match planned {
            Ok(plan) => plan,
            Err(reason) => return self.rejected.push(Rejected { candidate: path, reason }),
        };
        match self.plans.iter_mut().find(|known| known.path == plan.path) {
            Some(known) if known.compare_with_accesses(&plan, self.access_price).is_le() => {}
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
    }
}
