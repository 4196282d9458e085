//! Plans scans along one axis.

use super::direction::ScanDirection;
use super::levels::Level;
use super::question::Question;
use super::totals::Totals;
use crate::movement::address::Thread;
use crate::movement::tuples::{Combine, by_register, by_tensor, moved};
use crate::movement::{Bound, Means, MovementError, Plan, PlanFigures, convert, cost, slots};
use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// How a tensor, or a tuple of tensors of one layout, is scanned along an axis.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Counts, memory, cost, and the bound of scans of this layout.
    pub figures: PlanFigures,
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
    let question = Question::new(src, axis, element_bits, direction)?;
    let mut best = in_place(&question, target);
    if let Some(lines) = question.lines_in_registers() {
        let within = Question::new(&lines, axis, element_bits, direction)?;
        if let Ok(moved) = by_lines(&question, &within, src, &lines, target)
            && !best.as_ref().is_ok_and(|best| rank(best) <= rank(&moved))
        {
            best = Ok(moved);
        }
    }
    best
}

/// The lower, the cheaper.
fn rank(scan: &Scan) -> (f64, f64) {
    (slots(&scan.figures.counts), scan.figures.cost)
}

fn in_place(question: &Question, target: &TargetDescription) -> Result<Scan, MovementError> {
    let levels = Level::all(question, target.lane_xors(u32::BITS));
    let totals = Totals::new(question, target)?;
    let mut counts = levels.iter().fold(Counts::default(), |sum, level| sum.plus(level.counts(question)));
    if let Some(totals) = &totals {
        counts = counts.plus(totals.counts(question));
    }
    let stages = levels.iter().filter(|level| level.exchanges()).count() as u64;
    let bound = Bound { exchanges: if totals.is_none() { question.depth() } else { 0 }, ..Bound::default() };
    let cost = cost(&counts, 1 << question.warp_bits, stages, target);
    let figures = PlanFigures { counts, cost, ..PlanFigures::default() }
        .then(totals.iter().flat_map(|totals| &totals.moves).map(|plan| &plan.figures))
        .with_bound(bound, || "lanes fetch several values in each step".to_owned());
    Ok(Scan { figures, lane_bits: question.lane_bits, to: Vec::new(), levels, totals, back: Vec::new() })
}

/// The scan in a layout whose lanes hold whole lines. Each of its moves has shared memory of its own: all that
/// they want where that is there, else a share each.
fn by_lines(
    question: &Question,
    within: &Question,
    src: &LinearLayout,
    lines: &LinearLayout,
    target: &TargetDescription,
) -> Result<Scan, MovementError> {
    let means = Means::of(target);
    match by_lines_within(question, within, src, lines, means) {
        Ok(scan) if scan.figures.shared_bytes <= means.scratch_bytes => Ok(scan),
        _ => by_lines_within(question, within, src, lines, means.shared_by(2 * question.element_bits.len())),
    }
}

fn by_lines_within(
    question: &Question,
    within: &Question,
    src: &LinearLayout,
    lines: &LinearLayout,
    means: Means<'_>,
) -> Result<Scan, MovementError> {
    let ways = |from: &LinearLayout, to: &LinearLayout| {
        question.element_bits.iter().map(|&bits| convert(from, to, bits, means)).collect::<Result<Vec<_>, _>>()
    };
    let (to, back) = (ways(src, lines)?, ways(lines, src)?);
    let inner = in_place(within, means.target)?;
    let why = || "whole lines are moved to single lanes and back".to_owned();
    let moves = to.iter().chain(&back).map(|plan| &plan.figures);
    let figures = inner.figures.clone().then(moves).with_bound(Bound::default(), why);
    Ok(Scan { figures, to, back, ..inner })
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
