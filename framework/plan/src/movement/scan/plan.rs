//! Plans scans along one axis.

use super::direction::ScanDirection;
use super::levels::Level;
use super::problem::Question;
use super::totals::Totals;
use crate::movement::address::Thread;
use crate::movement::tuples::{Combine, by_register, by_tensor, moved};
use crate::movement::{Bound, MovementError, Plan, PlanContext, PlanStats, convert, cost, slots};
use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// How a tensor, or a tuple of tensors of one layout, is scanned along an axis.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Counts, memory, cost, and the bound of scans of this layout.
    pub stats: PlanStats,
    lane_bits: u32,
    /// Conversions to the layout that is scanned, one a tensor; none where it is the tensor's own.
    to: Vec<Plan>,
    levels: Vec<Level>,
    totals: Option<Totals>,
    /// Conversions back.
    back: Vec<Plan>,
}

/// The cheapest inclusive scan along `axis` of tensors in layout `src`, whose elements have
/// `element_bits` bits, one entry for each tensor of the tuple. The result has the same layout.
///
/// # Errors
/// [`MovementError`]: no such axis, no tensors, elements of no known width, a layout that is not
/// surjective or whose bases along the axis are no distinct powers of two, blocks that hold different
/// parts of the axis.
pub fn scan(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    direction: ScanDirection,
    target: &TargetDescription,
) -> Result<Scan, MovementError> {
    let problem = Question::new(src, axis, element_bits, direction)?;
    let mut best = in_place(&problem, target);
    if let Some(lines) = problem.lines_in_registers() {
        let within = Question::new(&lines, axis, element_bits, direction)?;
        if let Ok(moved) = by_lines(&problem, &within, src, &lines, target)
            && !best.as_ref().is_ok_and(|best| rank(best) <= rank(&moved))
        {
            best = Ok(moved);
        }
    }
    best
}

/// The lower, the cheaper.
fn rank(scan: &Scan) -> (f64, f64) {
    (slots(&scan.stats.counts), scan.stats.cost)
}

fn in_place(problem: &Question, target: &TargetDescription) -> Result<Scan, MovementError> {
    let levels = Level::all(problem, target.lane_xors(u32::BITS));
    let totals = Totals::new(problem, target)?;
    let mut counts = levels.iter().fold(Counts::default(), |sum, level| sum.plus(level.counts(problem)));
    if let Some(totals) = &totals {
        counts = counts.plus(totals.counts(problem));
    }
    let stages = levels.iter().filter(|level| level.exchanges()).count() as u64;
    let bound = Bound { exchanges: if totals.is_none() { problem.depth() } else { 0 }, ..Bound::default() };
    let cost = cost(&counts, 1 << problem.warp_bits, stages, target);
    let stats = PlanStats { counts, cost, ..PlanStats::default() }
        .then(totals.iter().flat_map(|totals| &totals.moves).map(|plan| &plan.stats))
        .with_bound(bound, || "lanes fetch several values in each step".to_owned());
    Ok(Scan { stats, lane_bits: problem.lane_bits, to: Vec::new(), levels, totals, back: Vec::new() })
}

/// The scan in a layout whose lanes hold whole lines. Each of its moves has shared memory of its own: all that
/// they want where that is there, else a share each.
fn by_lines(
    problem: &Question,
    within: &Question,
    src: &LinearLayout,
    lines: &LinearLayout,
    target: &TargetDescription,
) -> Result<Scan, MovementError> {
    let context = PlanContext::of(target);
    match by_lines_within(problem, within, src, lines, context) {
        Ok(scan) if scan.stats.shared_bytes <= context.scratch_bytes => Ok(scan),
        _ => by_lines_within(problem, within, src, lines, context.shared_by(2 * problem.element_bits.len())),
    }
}

fn by_lines_within(
    problem: &Question,
    within: &Question,
    src: &LinearLayout,
    lines: &LinearLayout,
    context: PlanContext<'_>,
) -> Result<Scan, MovementError> {
    let ways = |from: &LinearLayout, to: &LinearLayout| {
        problem.element_bits.iter().map(|&bits| convert(from, to, bits, context)).collect::<Result<Vec<_>, _>>()
    };
    let (to, back) = (ways(src, lines)?, ways(lines, src)?);
    let inner = in_place(within, context.target)?;
    let why = || "whole lines are moved to single lanes and back".to_owned();
    let moves = to.iter().chain(&back).map(|plan| &plan.stats);
    let stats = inner.stats.clone().then(moves).with_bound(Bound::default(), why);
    Ok(Scan { stats, to, back, ..inner })
}

impl Scan {
    /// Writes the scan's kernel IR. `inputs` holds, for each tensor of the tuple, one value for each
    /// register; so does the result. `combine` gets what lies nearer the scan's beginning first.
    ///
    /// # Panics
    /// Where there are not as many inputs, or values in them, as planned for.
    pub fn emit(&self, builder: &mut Builder, inputs: &[Vec<Value>], combine: &mut Combine) -> Vec<Vec<Value>> {
        let mut tuples = by_register(inputs);
        if !self.to.is_empty() {
            tuples = moved(builder, &self.to, &tuples);
        }
        let thread = Thread::new(builder, self.lane_bits);
        for level in &self.levels {
            tuples = level.emit(builder, thread, tuples, combine);
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
