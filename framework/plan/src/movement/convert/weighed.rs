//! The candidates of a conversion while they are weighed.

use super::plan::{Path, Plan};
use crate::movement::{Rejected, price};

/// The plans found so far, one a path, and the ways that are closed.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    pub(super) plans: Vec<Plan>,
    pub(super) rejected: Vec<Rejected<Path>>,
    /// Whether ways are left out that cannot give the best plan.
    pub(super) quick: bool,
    /// As in the means.
    pub(super) access_slots: f64,
}

impl Weighed {
    /// The slots from which on no plan is the best.
    pub(super) fn most(&self) -> f64 {
        let known = self.plans.iter().map(|plan| price::slots_with_accesses(&plan.stats.counts, self.access_slots));
        if self.quick { known.fold(f64::INFINITY, f64::min) } else { f64::INFINITY }
    }

    pub(super) fn add(&mut self, path: Path, way: Result<Plan, String>) {
        let plan = match way {
            Ok(plan) => plan,
            Err(reason) => return self.rejected.push(Rejected { candidate: path, reason }),
        };
        match self.plans.iter_mut().find(|known| known.path == plan.path) {
            Some(known) if known.compare_with_accesses(&plan, self.access_slots).is_le() => {}
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
    }
}
