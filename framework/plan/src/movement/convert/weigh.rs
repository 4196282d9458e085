//! Plans a layout conversion: compares the candidates and returns the cheapest.

use super::cluster;
use super::local;
use super::mixed;
use super::plan::{ConversionKind, ConversionPlan};
use super::replicas;
use super::shared;
use super::shuffle;
use super::weighed::Weighed;
use crate::movement::{ConversionProblem, MovementError, PlanContext, RejectedCandidate};
use tilewright_layout::LinearLayout;

/// Plans the conversion of a tensor of elements of `element_bits` bits from layout `src` to layout `dst`. Returns the
/// plan of the fewest predicted cycles ([`predict_cycles`](crate::movement::predict_cycles)).
///
/// # Errors
/// [`MovementError`] if the layouts have different tensors, if the target does not support them or the element width,
/// or if every candidate is rejected.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{ConversionKind, plan_conversion};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // 8x8 words on a machine of 8 lanes: a lane has a row, then a column.
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let columns = part(Dim::REGISTER, 0)?.direct_sum(&part(Dim::LANE, 1)?)?;
/// let plan = plan_conversion(&rows, &columns, 32, &target)?;
/// assert!(plan.stats.counts.shuffles >= plan.stats.bound.shuffles);
/// // Lanes that have the elements already move nothing.
/// assert_eq!(plan_conversion(&rows, &rows, 32, &target)?.path, ConversionKind::None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_conversion<'a>(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<ConversionPlan, MovementError> {
    let context = context.into();
    context.cached_conversion((src, dst, element_bits), || {
        let Weighed { plans, rejected, .. } = weigh(src, dst, element_bits, &context, true)?;
        let best = plans.into_iter().min_by(|a, b| a.compare_cost(b));
        best.ok_or_else(|| MovementError::impossible(RejectedCandidate::list_reasons(&rejected)))
    })
}

/// Returns a lower bound of the predicted cycles of all plans that convert between these layouts.
///
/// # Errors
/// As for [`plan_conversion`].
pub(crate) fn conversion_lower_bound(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<f64, MovementError> {
    let conversion = ConversionProblem::new(src, dst, element_bits, context.target)?;
    let through_memory = shared::cycles_lower_bound(&conversion, &context);
    if !shared::stays_in_warps(&conversion) {
        return Ok(through_memory);
    }
    Ok(through_memory.min(shuffle::cycles_lower_bound(&conversion, context.target)))
}

/// Returns the candidates of [`plan_conversion`], the best of each kind, and the rejected candidates with the reasons.
///
/// # Errors
/// [`MovementError`] if the layouts have different tensors, or if the target does not support them or the element
/// width.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::conversion_candidates;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let columns = part(Dim::REGISTER, 0)?.direct_sum(&part(Dim::LANE, 1)?)?;
/// let (plans, rejected) = conversion_candidates(&rows, &columns, 32, &target)?;
/// assert!(plans.iter().any(|plan| plan.stats.shared_bytes > 0) && plans.len() + rejected.len() > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn conversion_candidates<'a>(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<(Vec<ConversionPlan>, Vec<RejectedCandidate<ConversionKind>>), MovementError> {
    let weighed = weigh(src, dst, element_bits, &context.into(), false)?;
    Ok((weighed.plans, weighed.rejected))
}

/// Plans the candidates of every kind. If `quick`, it skips candidates whose lower bound shows that they cannot take
/// the fewest cycles.
fn weigh(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    context: &PlanContext<'_>,
    quick: bool,
) -> Result<Weighed, MovementError> {
    let conversion = ConversionProblem::new(src, dst, element_bits, context.target)?;
    let mut weighed = Weighed { quick, ..Weighed::default() };
    weighed.add(ConversionKind::Register, local::plan(&conversion));
    if quick && !weighed.plans.is_empty() {
        return Ok(weighed);
    }
    if cluster::crosses_blocks(&conversion) {
        weighed.add(ConversionKind::Cluster, cluster::plan(&conversion, context));
    }
    let by_shuffles = |weighed: &mut Weighed| {
        let most = weighed.most().next_up();
        weighed.add(ConversionKind::Shuffle, shuffle::plan(&conversion, context.target, most));
    };
    let shared_lower_bound = shared::cycles_lower_bound(&conversion, context);
    let shuffles_first = shuffle::cycles_lower_bound(&conversion, context.target) <= shared_lower_bound;
    if shuffles_first {
        by_shuffles(&mut weighed);
    }
    if shared_lower_bound <= weighed.most() {
        weighed.add(ConversionKind::Shared, shared::plan(&conversion, context));
    }
    if !shuffles_first {
        by_shuffles(&mut weighed);
    }
    replicas::plans(&conversion, context, &mut weighed);
    mixed::plans(&conversion, context, &mut weighed);
    Ok(weighed)
}
