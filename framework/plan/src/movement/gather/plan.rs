//! Plans gathers along one axis (Triton `tt.gather`).

use super::lines::{self, ConvertedLines};
use super::problem::GatherProblem;
use super::shared;
use super::shared::Shared;
use super::shuffles;
use super::shuffles::Shuffles;
use crate::movement::check::check_element;
use crate::movement::{
    ConversionKind, MovementError, PlanContext, PlanStats, RejectedCandidate, predict_cycles,
    price_counts_in_wavefronts,
};
use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout};

/// A plan of a gather along one axis (Triton `tt.gather`).
#[derive(Debug, Clone)]
pub struct GatherPlan {
    /// The kind of the plan: [`ConversionKind::Register`] if each lane selects among its own registers,
    /// [`ConversionKind::Shuffle`], [`ConversionKind::Shared`], or [`ConversionKind::Mixed`] for a conversion followed
    /// by shuffles.
    pub path: ConversionKind,
    /// The counts, shared memory and cost of the plan. The loaded wavefronts are those of loads without bank conflicts.
    /// The number of conflicts depends on the indices, so there is no lower bound.
    pub stats: PlanStats,
    /// Mean number of shared-memory wavefronts that a warp loads, over uniformly random indices.
    pub expected_wavefronts: f64,
    /// Predicted cycles of a block with the mean number of loaded wavefronts over uniformly random indices
    /// (`expected_wavefronts`). Candidates are ordered by these cycles.
    pub expected_cycles: f64,
    steps: Steps,
}

#[derive(Debug, Clone)]
enum Steps {
    Shuffles(Shuffles),
    Shared(Box<Shared>),
    Converted(Box<ConvertedLines>),
}

/// Plans the cheapest gather. The result has the layout `indices`; each position of it holds the element of `src` with
/// the same coordinates, except that the coordinate along `axis` is the index at this position. All axes except `axis`
/// are equal in both tensors.
///
/// # Errors
/// [`MovementError`] if a tensor lacks the axis, if the tensors differ in their other axes or in their numbers of
/// lanes, warps or blocks, if the layout of `src` is not surjective, if the element width is unknown, or if every
/// candidate is rejected.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{ConversionKind, plan_gather};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // Each of 8 lanes has one element of a line and one index into it: one shuffle.
/// let line = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
/// let plan = plan_gather(&line, &line, Dim::tensor(0), 32, &target)?;
/// assert_eq!((plan.path, plan.stats.counts.shuffles), (ConversionKind::Shuffle, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_gather<'a>(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<GatherPlan, MovementError> {
    let (candidates, rejected) = gather_candidates(src, indices, axis, element_bits, context)?;
    let reasons = || rejected.iter().map(|attempt| attempt.reason.as_str()).collect::<Vec<_>>().join("; ");
    candidates.into_iter().next().ok_or_else(|| MovementError::impossible(reasons()))
}

/// Returns the candidates of [`plan_gather`], the cheapest first, and the rejected ones with the reasons.
///
/// # Errors
/// [`MovementError`] if a tensor lacks the axis, if the tensors differ in their other axes or in their numbers of
/// lanes, warps or blocks, if the layout of `src` is not surjective, or if the element width is unknown.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::gather_candidates;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let line = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
/// let (candidates, rejected) = gather_candidates(&line, &line, Dim::tensor(0), 32, &target)?;
/// assert_eq!((candidates.len(), rejected.len()), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gather_candidates<'a>(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<(Vec<GatherPlan>, Vec<RejectedCandidate<ConversionKind>>), MovementError> {
    let context = context.into();
    let problem = GatherProblem::new(src, indices, axis, check_element(element_bits)?)?;
    let by_shuffles = shuffles::plan(&problem, context.target);
    let by_memory = shared::plan(&problem, context);
    let needs_conversion = by_shuffles.is_err();
    let is_short = by_memory.as_ref().map_or(true, |(shared, _)| shared.is_in_rounds());
    let (mut open, mut rejected) = (Vec::new(), Vec::new());
    let mut take = |path, attempt: Result<(Steps, Counts), String>| match attempt {
        Ok((steps, counts)) => open.push(GatherPlan::new(path, steps, counts, &problem, context)),
        Err(reason) => rejected.push(RejectedCandidate { candidate: path, reason }),
    };
    let is_in_lanes = by_shuffles.as_ref().is_ok_and(|(shuffles, _)| shuffles.stays_in_lanes);
    let by_lanes = if is_in_lanes { ConversionKind::Register } else { ConversionKind::Shuffle };
    take(by_lanes, by_shuffles.map(|(shuffles, counts)| (Steps::Shuffles(shuffles), counts)));
    take(ConversionKind::Shared, by_memory.map(|(shared, counts)| (Steps::Shared(Box::new(shared)), counts)));
    if needs_conversion && (is_short || lines::is_promising(&problem)) {
        let converted = lines::plan(&problem, indices, context);
        take(ConversionKind::Mixed, converted.map(|(lines, counts)| (Steps::Converted(Box::new(lines)), counts)));
    }
    open.sort_by(|a: &GatherPlan, b| a.expected_cycles.total_cmp(&b.expected_cycles));
    Ok((open, rejected))
}

impl GatherPlan {
    /// Creates a plan from its steps and the operation counts of a warp for them; a conversion that precedes the steps
    /// is not in the counts.
    fn new(
        path: ConversionKind,
        steps: Steps,
        counts: Counts,
        problem: &GatherProblem,
        context: PlanContext<'_>,
    ) -> Self {
        let cost = predict_cycles(&counts, 1 << problem.warp_bits, 1, context.target);
        let mut stats = PlanStats { counts, cost, ..PlanStats::default() };
        let mut expected_wavefronts = 0.0;
        match &steps {
            Steps::Shuffles(_) => {}
            Steps::Shared(shared) => {
                (stats.shared_bytes, stats.shared_bits) = (shared.bytes, shared.shared_bits());
                stats.largest_buffer_bytes = shared.bytes;
                expected_wavefronts = shared.expected_wavefronts;
            }
            Steps::Converted(lines) => {
                stats = stats.then([&lines.conversion.stats]);
                expected_wavefronts = stats.counts.wavefronts_loaded as f64;
            }
        }
        let conflicts = expected_wavefronts - stats.counts.wavefronts_loaded as f64;
        let conflict_cycles = conflicts * context.target.costs.shared_load_wavefront.cycles;
        let expected_cycles = stats.cost + conflict_cycles * (1u64 << problem.warp_bits) as f64;
        Self { path, stats, expected_wavefronts, expected_cycles, steps }
    }

    /// Returns the expected price of the gather in shared-memory wavefronts of a warp ([`price_counts_in_wavefronts`]),
    /// with the mean number of loaded wavefronts over uniformly random indices.
    #[must_use]
    pub fn expected_price(&self) -> f64 {
        let counts = &self.stats.counts;
        price_counts_in_wavefronts(counts) - counts.wavefronts_loaded as f64 + self.expected_wavefronts
    }

    /// Emits the gather. `src` holds one scalar integer of the element's width for each source register; `indices`
    /// holds an `i32` below the axis's size for each register of the indices. The result holds one scalar integer for
    /// each register of the indices.
    ///
    /// # Panics
    /// If `src` or `indices` has fewer values than its layout has registers.
    pub fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        match &self.steps {
            Steps::Shuffles(shuffles) => shuffles.emit(builder, src, indices),
            Steps::Shared(shared) => shared.emit(builder, src, indices),
            Steps::Converted(lines) => {
                let src = lines.conversion.emit(builder, src);
                lines.shuffles.emit(builder, &src, indices)
            }
        }
    }
}
