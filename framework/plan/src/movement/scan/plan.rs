//! Plans scans along one axis (Triton `tt.scan`).

use super::direction::ScanDirection;
use super::lanes::LaneScan;
use super::levels::Level;
use super::problem::ScanProblem;
use super::totals::Totals;
use crate::cost::WarpWork;
use crate::movement::address::ThreadIndices;
use crate::movement::variadic::{EmitCombine, by_register, by_tensor, moved};
use crate::movement::{ConversionPlan, CountLowerBounds, MovementError, PlanContext, PlanStats, plan_conversion};
use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// A plan of a scan of a tensor, or of a tuple of tensors of one layout, along one axis.
#[derive(Debug, Clone)]
pub struct ScanPlan {
    /// The counts, shared memory and cost of the plan, and the lower bound of scans of this layout.
    pub stats: PlanStats,
    lane_bits: u32,
    /// Conversions to the layout of the tensors during the scan, one for each tensor; empty if they are scanned in
    /// their own layout.
    to: Vec<ConversionPlan>,
    levels: Vec<Level>,
    lanes: Option<LaneScan>,
    totals: Option<Totals>,
    /// Conversions back to the tensors' own layout, one for each tensor; empty if the scan runs in that layout.
    back: Vec<ConversionPlan>,
}

/// Plans the cheapest inclusive scan along `axis` of tensors in layout `src`; `element_bits` has one entry for each
/// tensor of the tuple. The result has the same layout.
///
/// # Errors
/// [`MovementError`] if the axis does not exist, if there are no tensors, if an element width is unknown, if the layout
/// is not surjective, if its bases along the axis are not distinct powers of two or move along another axis too, or if
/// blocks hold different parts of the axis.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{ScanDirection, plan_scan};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// // A lane has a whole row: the scan along it needs no other lane.
/// let plan = plan_scan(&rows, Dim::tensor(1), &[32], ScanDirection::Forward, &target)?;
/// assert_eq!((plan.stats.counts.shuffles, plan.stats.shared_bytes), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_scan(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    direction: ScanDirection,
    target: &TargetDescription,
) -> Result<ScanPlan, MovementError> {
    let problem = ScanProblem::new(src, axis, element_bits, direction)?;
    let mut best = plan_without_conversion(&problem, target);
    if let Some(lines) = problem.lines_in_registers() {
        let within = ScanProblem::new(&lines, axis, element_bits, direction)?;
        if let Ok(moved) = plan_by_lines(&problem, &within, src, &lines, target)
            && !best.as_ref().is_ok_and(|best| best.stats.cost <= moved.stats.cost)
        {
            best = Ok(moved);
        }
    }
    best
}

fn plan_without_conversion(problem: &ScanProblem, target: &TargetDescription) -> Result<ScanPlan, MovementError> {
    let by_bits = plan_steps(problem, None, target)?;
    let Some(lanes) = LaneScan::of(problem, target.lane_xors(u32::BITS)) else { return Ok(by_bits) };
    let by_totals = plan_steps(problem, Some(lanes), target)?;
    Ok(if by_totals.stats.cost < by_bits.stats.cost { by_totals } else { by_bits })
}

/// Plans the steps of a scan. `lanes` has the steps within a warp; `None` for a step for each axis bit.
fn plan_steps(
    problem: &ScanProblem,
    lanes: Option<LaneScan>,
    target: &TargetDescription,
) -> Result<ScanPlan, MovementError> {
    let bits = if lanes.is_some() { 0 } else { problem.lower() };
    let levels: Vec<Level> = (0..bits).map(|bit| Level::of(problem, bit, target.lane_xors(u32::BITS))).collect();
    let totals = Totals::new(problem, target)?;
    let of_levels = levels.iter().map(|level| level.work(&problem.element_bits, problem.register_bits));
    let of_lanes = lanes.iter().flat_map(|lanes| lanes.work(problem));
    let of_totals = totals.iter().map(|totals| totals.work(problem));
    let work: Vec<WarpWork> = of_levels.chain(of_lanes).chain(of_totals).collect();
    let counts = work.iter().fold(Counts::default(), |sum, step| sum.add_counts(step.counts));
    let bound = CountLowerBounds {
        shuffles: if totals.is_none() { problem.depth() } else { 0 },
        ..CountLowerBounds::default()
    };
    let cost = work.iter().map(|step| step.block_cycles(1 << problem.warp_bits, target)).sum();
    let stats = PlanStats { counts, cost, ..PlanStats::default() }
        .then(totals.iter().flat_map(|totals| &totals.moves).map(|plan| &plan.stats))
        .with_bound(bound, || "lanes fetch several values in each step".to_owned());
    Ok(ScanPlan { stats, lane_bits: problem.lane_bits, to: Vec::new(), levels, lanes, totals, back: Vec::new() })
}

/// Plans the scan in the layout `lines`, with whole lines (all elements along the axis) in each lane; `within` is the
/// scan in this layout. Each conversion has its own shared memory: all that it needs if the block has enough, else an
/// equal share of the block's memory.
fn plan_by_lines(
    problem: &ScanProblem,
    within: &ScanProblem,
    src: &LinearLayout,
    lines: &LinearLayout,
    target: &TargetDescription,
) -> Result<ScanPlan, MovementError> {
    let context = PlanContext::new(target);
    match by_lines_within(problem, within, src, lines, context) {
        Ok(scan) if scan.stats.shared_bytes <= context.scratch_bytes => Ok(scan),
        _ => by_lines_within(problem, within, src, lines, context.divide_scratch(2 * problem.element_bits.len())),
    }
}

fn by_lines_within(
    problem: &ScanProblem,
    within: &ScanProblem,
    src: &LinearLayout,
    lines: &LinearLayout,
    context: PlanContext<'_>,
) -> Result<ScanPlan, MovementError> {
    let conversions = |from: &LinearLayout, to: &LinearLayout| {
        problem.element_bits.iter().map(|&bits| plan_conversion(from, to, bits, context)).collect::<Result<Vec<_>, _>>()
    };
    let (to, back) = (conversions(src, lines)?, conversions(lines, src)?);
    let inner = plan_without_conversion(within, context.target)?;
    let why = || "complete lines are moved to single lanes and back".to_owned();
    let moves = to.iter().chain(&back).map(|plan| &plan.stats);
    let stats = inner.stats.clone().then(moves).with_bound(CountLowerBounds::default(), why);
    Ok(ScanPlan { stats, to, back, ..inner })
}

impl ScanPlan {
    /// Emits the scan. `inputs` holds, for each tensor of the tuple, one value for each register; the result has the
    /// same form. The first argument of `combine` is the value nearer to the start of the scan.
    ///
    /// # Panics
    /// If there are fewer inputs, or values in them, than planned for.
    pub fn emit(&self, builder: &mut Builder, inputs: &[Vec<Value>], combine: &mut EmitCombine) -> Vec<Vec<Value>> {
        let mut tuples = by_register(inputs);
        if !self.to.is_empty() {
            tuples = moved(builder, &self.to, &tuples);
        }
        let thread = ThreadIndices::new(builder, self.lane_bits);
        for level in &self.levels {
            tuples = level.emit(builder, thread, tuples, combine);
        }
        if let Some(lanes) = &self.lanes {
            tuples = lanes.emit(builder, thread, tuples, combine);
        }
        if let Some(totals) = &self.totals {
            tuples = totals.emit(builder, thread, tuples, combine);
        }
        if !self.back.is_empty() {
            tuples = moved(builder, &self.back, &tuples);
        }
        by_tensor(&tuples, inputs.len())
    }
}
