//! Weighs the candidates of a conversion and gives the cheapest.

use super::cluster;
use super::exchange;
use super::local;
use super::mixed;
use super::plan::{Path, Plan};
use super::shared;
use super::spread;
use super::weighed::Weighed;
use crate::movement::{Conversion, MovementError, PlanContext, Rejected, bound};
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
    context: impl Into<PlanContext<'a>>,
) -> Result<Plan, MovementError> {
    let context = context.into();
    let Weighed { plans, rejected, .. } = weigh(src, dst, element_bits, &context, true)?;
    let best = plans.into_iter().min_by(|a, b| a.compare_with_accesses(b, context.access_slots));
    best.ok_or_else(|| MovementError::impossible(Rejected::list(&rejected)))
}

/// Slots that no conversion between these layouts can go below, counted as [`convert`] compares them.
///
/// # Errors
/// As for [`convert`].
pub(crate) fn least_to_convert(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<f64, MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, context.target)?;
    // Through memory something is stored and something loaded.
    let through_memory = shared::least_slots(&conversion, &context) + 2.0 * context.access_slots;
    if !shared::stays_in_warps(&conversion) {
        return Ok(through_memory);
    }
    Ok(through_memory.min(bound::of_exchanges(&conversion, context.target).slots()))
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
    context: impl Into<PlanContext<'a>>,
) -> Result<(Vec<Plan>, Vec<Rejected<Path>>), MovementError> {
    let weighed = weigh(src, dst, element_bits, &context.into(), false)?;
    Ok((weighed.plans, weighed.rejected))
}

/// Weighs the plans on every path; `quick` leaves out those that cannot be the best.
fn weigh(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: &PlanContext<'_>,
    quick: bool,
) -> Result<Weighed, MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, context.target)?;
    let mut weighed = Weighed { quick, access_slots: context.access_slots, ..Weighed::default() };
    weighed.add(Path::Register, local::plan(&conversion));
    if quick && !weighed.plans.is_empty() {
        return Ok(weighed);
    }
    if cluster::is_asked(&conversion) {
        weighed.add(Path::Cluster, cluster::plan(&conversion, context));
    }
    let by_shuffles = |weighed: &mut Weighed| {
        let most = weighed.most().next_up();
        weighed.add(Path::Shuffle, exchange::plan(&conversion, context.target, most));
    };
    let least_shared = shared::least_slots(&conversion, context);
    let shuffles_first = bound::of_exchanges(&conversion, context.target).slots() <= least_shared;
    if shuffles_first {
        by_shuffles(&mut weighed);
    }
    if least_shared <= weighed.most() {
        weighed.add(Path::Shared, shared::plan(&conversion, context));
    }
    if !shuffles_first {
        by_shuffles(&mut weighed);
    }
    spread::plans(&conversion, context, &mut weighed);
    mixed::plans(&conversion, context, &mut weighed);
    Ok(weighed)
}
