//! Plans reductions along one axis: the candidates, their prices and the lower bound.

use super::candidate::ReductionCandidate;
use super::lanes::{LaneStep, make_replicas_equal, with_partners};
use super::problem::ReductionProblem;
use crate::movement::address::ThreadIndices;
use crate::movement::convert::conversion_lower_bound;
use crate::movement::price::accesses;
use crate::movement::variadic::{EmitCombine, by_tensor, moved};
use crate::movement::{ConversionPlan, CountLowerBounds, MovementError, PlanContext, PlanStats, plan_conversion};
use std::cmp::Ordering;
use tilewright_kernel::{Builder, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, ShuffleXorMasks, TargetDescription};

/// A plan of a reduction of a tensor, or of a tuple of tensors of one layout.
#[derive(Debug, Clone)]
pub struct ReductionPlan {
    /// The layout of the results: the source's layout without the axis (Triton's slice layout), so that every lane that
    /// held an element of a result has the result; or the layout that [`plan_reduction_to`] was given.
    pub result: LinearLayout,
    /// The counts, shared memory and cost of the plan, and the lower bound of reductions to this layout.
    pub stats: PlanStats,
    /// For each remaining register, the source registers that are combined into it.
    sources: Vec<Vec<usize>>,
    lane_bits: u32,
    /// The constant lane xors by which the target can shuffle.
    xors: ShuffleXorMasks,
    before: Vec<LaneStep>,
    /// Conversions of the partial results, one plan for each tensor of the tuple.
    moves: Vec<ConversionPlan>,
    /// Log2 of the number of partial results that a lane combines in its registers after the conversion.
    partial_bits_in_registers: u32,
    /// The steps between lanes after the conversion of partial results.
    after: Vec<LaneStep>,
    /// Conversions that broadcast the results, one plan for each tensor of the tuple; empty if every lane has its
    /// results already.
    broadcasts: Vec<ConversionPlan>,
}

/// Plans the cheapest reduction along `axis` of tensors in layout `src`; `element_bits` has one entry for each tensor
/// of the tuple.
///
/// # Errors
/// [`MovementError`] if the axis does not exist, if there are no tensors, if an element width is unknown, if the layout
/// is not surjective, if a basis moves along the axis and another axis at once, or if blocks hold different parts of
/// the axis.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::plan_reduction;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// // A lane has a whole row: its sum needs no other lane; that of a column needs all of them.
/// let rows_summed = plan_reduction(&rows, Dim::tensor(1), &[32], &target)?;
/// assert_eq!((rows_summed.stats.counts.shuffles, rows_summed.stats.shared_bytes), (0, 0));
/// let columns_summed = plan_reduction(&rows, Dim::tensor(0), &[32], &target)?;
/// assert!(columns_summed.stats.cost > rows_summed.stats.cost);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_reduction(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<ReductionPlan, MovementError> {
    plan_problem(&ReductionProblem::new(src, axis, element_bits)?, target)
}

/// Plans the cheapest reduction whose results are required in the layout `required`, whose axes are the remaining ones,
/// numbered from 0. Lanes that need different results need not get all.
///
/// # Errors
/// As for [`plan_reduction`], and if `required` is not a layout of the results.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{plan_reduction, plan_reduction_to};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// // Every lane has a row of eight columns: lanes send four partial results, then two, then one.
/// let all = plan_reduction(&rows, Dim::tensor(0), &[32], &target)?;
/// let one = plan_reduction_to(&part(Dim::LANE, 0)?, &rows, Dim::tensor(0), &[32], &target)?;
/// assert_eq!(one.stats.counts.shuffles, 4 + 2 + 1);
/// assert!(all.stats.cost > one.stats.cost);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_reduction_to(
    required: &LinearLayout,
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<ReductionPlan, MovementError> {
    let problem = ReductionProblem::new(src, axis, element_bits)?;
    plan_problem(&problem.with_required_layout(required)?, target)
}

fn plan_problem(problem: &ReductionProblem, target: &TargetDescription) -> Result<ReductionPlan, MovementError> {
    let context = PlanContext::new(target);
    let (mut best, mut rejected) = (None::<ReductionPlan>, None);
    for candidate in ReductionCandidate::all(problem)? {
        let most = best.as_ref().map_or(f64::INFINITY, |best| best.stats.cost);
        if cycles_lower_bound(problem, &candidate, context)? > most {
            continue;
        }
        match build(problem, &candidate, context) {
            Ok(reduction) if best.as_ref().is_none_or(|best| compare(&reduction, best).is_lt()) => {
                best = Some(reduction);
            }
            Ok(_) => {}
            Err(error) => rejected = Some(error),
        }
    }
    best.ok_or_else(|| rejected.unwrap_or_else(no_candidate))
}

fn no_candidate() -> MovementError {
    MovementError::impossible("no candidate reduces the tensor")
}

/// Returns the candidates of [`plan_reduction`], those of the fewest predicted cycles first
/// ([`predict_cycles`](crate::movement::predict_cycles)).
///
/// # Errors
/// As for [`plan_reduction`].
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{plan_reduction, reduction_candidates};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let candidates = reduction_candidates(&rows, Dim::tensor(0), &[32], &target)?;
/// let best = plan_reduction(&rows, Dim::tensor(0), &[32], &target)?;
/// assert_eq!(candidates[0].stats.counts, best.stats.counts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reduction_candidates(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<Vec<ReductionPlan>, MovementError> {
    let problem = ReductionProblem::new(src, axis, element_bits)?;
    let context = PlanContext::new(target);
    let candidates = ReductionCandidate::all(&problem)?;
    let (mut all, mut rejected) = (Vec::new(), None);
    for candidate in &candidates {
        match build(&problem, candidate, context) {
            Ok(reduction) => all.push(reduction),
            Err(error) => rejected = Some(error),
        }
    }
    if all.is_empty() {
        return Err(rejected.unwrap_or_else(no_candidate));
    }
    all.sort_by(compare);
    all.dedup_by(|a, b| a.stats.counts == b.stats.counts && a.before == b.before && a.after == b.after);
    Ok(all)
}

fn compare(a: &ReductionPlan, b: &ReductionPlan) -> Ordering {
    let accesses = |plan: &ReductionPlan| accesses(&plan.stats.counts);
    a.stats.cost.total_cmp(&b.stats.cost).then(accesses(a).cmp(&accesses(b)))
}

/// Returns a lower bound of the predicted cycles of a candidate, without planning its conversions.
fn cycles_lower_bound(
    problem: &ReductionProblem,
    candidate: &ReductionCandidate,
    context: PlanContext<'_>,
) -> Result<f64, MovementError> {
    let mut lowest = candidate.stats_of_steps(problem, context.target).cost;
    for &bits in &problem.element_bits {
        lowest += conversion_lower_bound(&candidate.src, &candidate.dst, bits, context)?;
        if let Some(left) = &candidate.left {
            lowest += conversion_lower_bound(left, &problem.required, bits, context)?;
        }
    }
    Ok(lowest)
}

/// Plans a candidate. Each conversion has its own shared memory: all that it needs if the block has enough, else an
/// equal share of the block's memory.
fn build(
    problem: &ReductionProblem,
    candidate: &ReductionCandidate,
    context: PlanContext<'_>,
) -> Result<ReductionPlan, MovementError> {
    let most = u64::from(context.target.shared.bytes);
    let reduction = build_within(problem, candidate, context)?;
    if reduction.stats.shared_bytes <= most {
        return Ok(reduction);
    }
    let moves = reduction.moves.len() + reduction.broadcasts.len();
    build_within(problem, candidate, context.with_scratch_bytes(most / moves.max(1) as u64))
}

fn build_within(
    problem: &ReductionProblem,
    candidate: &ReductionCandidate,
    context: PlanContext<'_>,
) -> Result<ReductionPlan, MovementError> {
    let target = context.target;
    let converted = |src: &LinearLayout, dst: &LinearLayout| -> Result<Vec<ConversionPlan>, MovementError> {
        problem.element_bits.iter().map(|&bits| plan_conversion(src, dst, bits, context)).collect()
    };
    let moves = converted(&candidate.src, &candidate.dst)?;
    let broadcasts =
        candidate.left.as_ref().map(|left| converted(left, &problem.required)).transpose()?.unwrap_or_default();
    let xors = target.lane_xors(u32::BITS);
    let stats = candidate
        .stats_of_steps(problem, target)
        .then(moves.iter().chain(&broadcasts).map(|plan| &plan.stats))
        .with_bound(bound(problem, &moves, target), || why_above(problem));
    Ok(ReductionPlan {
        result: problem.required.clone(),
        stats,
        sources: problem.sources(),
        lane_bits: problem.lane_bits,
        xors,
        before: candidate.before.clone(),
        moves,
        partial_bits_in_registers: candidate.partial_bits_in_registers,
        after: candidate.after.clone(),
        broadcasts,
    })
}

fn why_above(problem: &ReductionProblem) -> String {
    if problem.partial_bits > 0 {
        return "partial results are moved before they are combined, and several warps need the results".to_owned();
    }
    "every lane gets every result; combining in halves and a broadcast would cost more selects".to_owned()
}

/// Computes the lower bound of the counts of a warp. Within a warp: every result depends on all lanes along the axis,
/// and a shuffle at most doubles the number of lanes on which a value depends. Each result also needs as many received
/// words as there are other lanes: once to combine and, unless shared memory broadcasts the result, once more. Between
/// warps: all but one of the partial results of each result leave their warp, divided evenly among the warps. A reduction to
/// another layout than the source's without the axis has no known bound.
fn bound(problem: &ReductionProblem, moves: &[ConversionPlan], target: &TargetDescription) -> CountLowerBounds {
    if problem.is_converted() {
        return CountLowerBounds::default();
    }
    if problem.partial_bits == 0 {
        let depth = problem.summing_lanes().count() as u64;
        let words = |bits: &u32| (u64::from(*bits) << problem.distinct_kept()).div_ceil(u64::from(u32::BITS));
        let broadcasts = |(_, plan): &(&u32, &ConversionPlan)| plan.stats.counts.shared_stores == 0;
        let by_shuffles = problem.element_bits.iter().zip(moves).filter(broadcasts).map(|(bits, _)| words(bits));
        let all = problem.element_bits.iter().map(words).sum::<u64>() + by_shuffles.sum::<u64>();
        let received = (all * ((1 << depth) - 1)).div_ceil(1 << depth);
        return CountLowerBounds { shuffles: depth.max(received), ..CountLowerBounds::default() };
    }
    let in_block: u64 =
        problem.element_bits.iter().map(|&bits| u64::from(bits) << problem.result.outs().total_bits()).sum();
    let leaving = (in_block * ((1 << problem.partial_bits) - 1)) >> problem.block_bits();
    let moved = |direction| {
        let rows = target.shared.banks.iter().filter(|row| row.directions.contains(&direction));
        let most = rows.map(|row| row.wavefront_bytes() * 8).max().unwrap_or(1).max(1);
        leaving.div_ceil(most << problem.warp_bits)
    };
    CountLowerBounds {
        wavefronts_stored: moved(Direction::Store),
        wavefronts_loaded: moved(Direction::Load),
        shuffles: 0,
    }
}

impl ReductionPlan {
    /// Returns the same reduction for an operation that rounds: lanes with the same result get the same bits, since they
    /// combine their values in one order, or get the result of one of them. This takes selects or a shuffle for each
    /// shuffled word, which the plan's counts omit. Results that pass shared memory next need neither: one lane stores
    /// each, and all lanes load what it stored.
    #[must_use]
    pub fn with_equal_replicas(mut self, target: &TargetDescription) -> Self {
        let is_stored = !self.moves.is_empty() && self.moves.iter().all(|plan| plan.stats.counts.shared_stores > 0);
        if !is_stored {
            make_replicas_equal(&mut self.before, target);
        }
        make_replicas_equal(&mut self.after, target);
        self
    }

    /// Returns the number of lane bits whose steps halve the registers, so that they divide the results among the
    /// lanes.
    #[must_use]
    pub fn halving_lane_bits(&self) -> usize {
        self.before.iter().filter(|step| matches!(step, LaneStep::Halve { .. })).count()
    }

    /// Returns the number of lane bits along which lanes load different partial results, which shuffles then combine.
    #[must_use]
    pub fn loading_lane_bits(&self) -> usize {
        self.after.len()
    }

    /// Whether each result is combined by one thread and then broadcast by a second conversion.
    #[must_use]
    pub fn broadcasts_results(&self) -> bool {
        !self.broadcasts.is_empty()
    }

    /// Emits the reduction. `inputs` holds, for each tensor of the tuple, one value for each source register. The
    /// result holds, for each tensor, one value for each register of [`ReductionPlan::result`]. Values may have any
    /// element type of the planned widths.
    ///
    /// # Panics
    /// If there are fewer inputs, or values in them, than planned for.
    pub fn emit(&self, builder: &mut Builder, inputs: &[Vec<Value>], combine: &mut EmitCombine) -> Vec<Vec<Value>> {
        let mut kept: Vec<Vec<Value>> = Vec::with_capacity(self.sources.len());
        for group in &self.sources {
            let tuple = |register: usize| inputs.iter().map(|values| values[register]).collect::<Vec<_>>();
            let mut sum = tuple(group[0]);
            for &register in &group[1..] {
                sum = combine(builder, &sum, &tuple(register));
            }
            kept.push(sum);
        }
        let thread = ThreadIndices::new(builder, self.lane_bits);
        for (step, partner) in with_partners(&self.before, self.xors) {
            kept = step.emit(builder, (thread, self.xors, partner), kept, combine);
        }
        let partials = moved(builder, &self.moves, &kept);
        let mut results: Vec<Vec<Value>> = Vec::new();
        for group in partials.chunks(1 << self.partial_bits_in_registers) {
            let mut sum = group[0].clone();
            for part in &group[1..] {
                sum = combine(builder, &sum, part);
            }
            results.push(sum);
        }
        for (step, partner) in with_partners(&self.after, self.xors) {
            results = step.emit(builder, (thread, self.xors, partner), results, combine);
        }
        if !self.broadcasts.is_empty() {
            results = moved(builder, &self.broadcasts, &results);
        }
        by_tensor(&results, inputs.len())
    }
}
