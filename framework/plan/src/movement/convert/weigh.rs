//! Weighs the candidates of a conversion and gives the cheapest.

use super::cluster;
use super::exchange;
use super::local;
use super::mixed;
use super::plan::{Path, Plan};
use super::shared;
use super::spread;
use super::weighed::Weighed;
use crate::movement::{Conversion, Means, MovementError, Rejected, bound};
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
    let Weighed { plans, rejected, .. } = weigh(src, dst, element_bits, &means, true)?;
    let best = plans.into_iter().min_by(|a, b| a.compare_with_accesses(b, means.access_slots));
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
    means: Means<'_>,
) -> Result<f64, MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, means.target)?;
    // Through memory something is stored and something loaded.
    let through_memory = shared::least_slots(&conversion, &means) + 2.0 * means.access_slots;
    if !shared::stays_in_warps(&conversion) {
        return Ok(through_memory);
    }
    Ok(through_memory.min(bound::of_exchanges(&conversion, means.target).slots()))
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
) -> Result<(Vec<Plan>, Vec<Rejected<Path>>), MovementError> {
    let weighed = weigh(src, dst, element_bits, &means.into(), false)?;
    Ok((weighed.plans, weighed.rejected))
}

/// Weighs the plans on every path; `quick` leaves out those that cannot be the best.
fn weigh(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    means: &Means<'_>,
    quick: bool,
) -> Result<Weighed, MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, means.target)?;
    let mut weighed = Weighed { quick, access_slots: means.access_slots, ..Weighed::default() };
    weighed.add(Path::Register, local::plan(&conversion));
    if quick && !weighed.plans.is_empty() {
        return Ok(weighed);
    }
    if cluster::is_asked(&conversion) {
        weighed.add(Path::Cluster, cluster::plan(&conversion, means));
    }
    let by_shuffles = |weighed: &mut Weighed| {
        let most = weighed.most().next_up();
        weighed.add(Path::Shuffle, exchange::plan(&conversion, means.target, most));
    };
    let least_shared = shared::least_slots(&conversion, means);
    let shuffles_first = bound::of_exchanges(&conversion, means.target).slots() <= least_shared;
    if shuffles_first {
        by_shuffles(&mut weighed);
    }
    if least_shared <= weighed.most() {
        weighed.add(Path::Shared, shared::plan(&conversion, means));
    }
    if !shuffles_first {
        by_shuffles(&mut weighed);
    }
    spread::plans(&conversion, means, &mut weighed);
    mixed::plans(&conversion, means, &mut weighed);
    Ok(weighed)
}
