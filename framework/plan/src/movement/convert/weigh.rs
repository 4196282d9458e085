//! Weighs the candidates of a conversion and gives the cheapest.

use super::cluster;
use super::exchange;
use super::local;
use super::mixed;
use super::plan::{Path, Plan, Rejected};
use super::shared;
use super::spread;
use crate::movement::{Conversion, Means, MovementError, bound, price};
use tilewright_layout::LinearLayout;

/// The best plan that converts a tensor of elements of `element_bits` bits from layout `src` to
/// layout `dst` by the given means, such as `&TargetDescription`: that of the fewest wavefront
/// `slots`, and among these that of the fewest cycles by the target's table.
///
/// # Errors
/// [`MovementError`]: layouts that are not of one tensor, or that the target cannot hold; widths
/// that no element has; conversions that no candidate can do.
pub fn convert<'a>(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    means: impl Into<Means<'a>>,
) -> Result<Plan, MovementError> {
    let means = means.into();
    let conversion = Conversion::new(src, dst, element_bits, means.target)?;
    let access_slots = means.access_slots;
    let mut weighed = Weighed { quick: true, access_slots, ..Weighed::default() };
    weighed.all(&conversion, &means);
    let plans = weighed.plans.into_iter();
    plans.min_by(|a, b| a.compare_with_accesses(b, access_slots)).ok_or_else(|| MovementError::Impossible {
        reasons: weighed.rejected.iter().map(|r| format!("{}: {}", r.path, r.reason)).collect::<Vec<_>>().join("; "),
    })
}

/// Slots that no conversion between these layouts can go below, counted as [`convert`] compares them.
///
/// # Errors
/// As for [`convert`].
pub(crate) fn least_to_convert(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    means: Means<'_>,
) -> Result<f64, MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, means.target)?;
    // Through memory something is stored and something loaded.
    let through_memory = shared::least_slots(&conversion, &means) + 2.0 * means.access_slots;
    if !shared::stays_in_warps(&conversion) {
        return Ok(through_memory);
    }
    let words = means.target.index_exchange_bits().unwrap_or(u32::BITS);
    Ok(through_memory.min(bound::of_exchanges(&conversion, words).slots()))
}

/// The plans that [`convert`] weighs, the best on each path, and the ways that are closed with the
/// reasons.
///
/// # Errors
/// [`MovementError`]: layouts that are not of one tensor, or that the target cannot hold; widths
/// that no element has.
pub fn candidates<'a>(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    means: impl Into<Means<'a>>,
) -> Result<(Vec<Plan>, Vec<Rejected>), MovementError> {
    let means = means.into();
    let conversion = Conversion::new(src, dst, element_bits, means.target)?;
    let mut weighed = Weighed { access_slots: means.access_slots, ..Weighed::default() };
    weighed.all(&conversion, &means);
    Ok((weighed.plans, weighed.rejected))
}

/// The plans found so far, one a path, and the ways that are closed.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    plans: Vec<Plan>,
    rejected: Vec<Rejected>,
    /// Whether ways are left out that cannot give the best plan.
    quick: bool,
    /// As in the means.
    access_slots: f64,
}

impl Weighed {
    fn all(&mut self, conversion: &Conversion, means: &Means<'_>) {
        self.add(Path::Register, local::plan(conversion, means.target));
        if self.quick && !self.plans.is_empty() {
            return;
        }
        if cluster::is_asked(conversion) {
            self.add(Path::Cluster, cluster::plan(conversion, means));
        }
        let exchanged = bound::of_exchanges(conversion, means.target.index_exchange_bits().unwrap_or(u32::BITS));
        if exchanged.slots() <= shared::least_slots(conversion, means) {
            self.exchange(conversion, means);
            self.share(conversion, means);
        } else {
            self.share(conversion, means);
            self.exchange(conversion, means);
        }
        spread::plans(conversion, means, self);
        mixed::plans(conversion, means, self);
    }

    /// By exchange, where that can be as good as what is known.
    fn exchange(&mut self, conversion: &Conversion, means: &Means<'_>) {
        self.add(Path::Shuffle, exchange::plan(conversion, means.target, self.most().next_up()));
    }

    /// Through shared memory, where that can be as good as what is known.
    fn share(&mut self, conversion: &Conversion, means: &Means<'_>) {
        if shared::least_slots(conversion, means) <= self.most() {
            self.add(Path::Shared, shared::plan(conversion, means));
        }
    }

    /// The slots from which on no plan is the best.
    pub(super) fn most(&self) -> f64 {
        let known = self.plans.iter().map(|plan| price::slots_with_accesses(&plan.counts, self.access_slots));
        if self.quick { known.fold(f64::INFINITY, f64::min) } else { f64::INFINITY }
    }

    pub(super) fn add(&mut self, path: Path, way: Result<Plan, String>) {
        let plan = match way {
            Ok(plan) => plan,
            Err(reason) => return self.rejected.push(Rejected { path, reason }),
        };
        match self.plans.iter_mut().find(|known| known.path == plan.path) {
            Some(known) if known.compare_with_accesses(&plan, self.access_slots).is_le() => {}
            Some(known) => *known = plan,
            None => self.plans.push(plan),
        }
    }
}
