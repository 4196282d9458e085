//! Plans scans along one axis.

use super::direction::ScanDirection;
use super::levels::Level;
use super::question::Question;
use super::totals::Totals;
use crate::movement::address::Thread;
use crate::movement::tuples::{Combine, by_register, by_tensor, moved};
use crate::movement::{Bound, Means, MovementError, Plan, SharedBits, convert, cost, slots};
use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// How a tensor, or a tuple of tensors of one layout, is scanned along an axis.
#[derive(Debug, Clone)]
pub struct Scan {
    /// What a warp executes; where warps differ, the most.
    pub counts: Counts,
    /// Shared memory of the block in bytes.
    pub shared_bytes: u64,
    /// Cycles of the block by the target's table; the combining itself is not counted.
    pub cost: f64,
    /// What no scan of this layout can go below.
    pub bound: Bound,
    /// Why the counts are above the bound, where they are.
    pub above_bound: Option<String>,
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
    (slots(&scan.counts), scan.cost)
}

fn in_place(question: &Question, target: &TargetDescription) -> Result<Scan, MovementError> {
    let levels = question.levels(target.lane_xors(u32::BITS));
    let totals = question.totals(target)?;
    let mut lanes = levels.iter().fold(Counts::default(), |sum, level| sum.plus(level.counts(question)));
    let moves = totals.as_ref().map_or(&[][..], |totals| totals.moves.as_slice());
    if let Some(totals) = &totals {
        lanes = lanes.plus(totals.counts(question));
    }
    let counts = moves.iter().fold(lanes, |sum, plan| sum.plus(plan.counts));
    let stages = levels.iter().filter(|level| level.exchanges()).count() as u64;
    let bound = Bound { exchanges: if totals.is_none() { question.depth() } else { 0 }, ..Bound::default() };
    Ok(Scan {
        cost: cost(&lanes, 1 << question.warp_bits, stages, target) + moves.iter().map(|plan| plan.cost).sum::<f64>(),
        shared_bytes: moves.iter().map(|plan| plan.shared_bytes).sum(),
        above_bound: (!bound.is_met(&counts)).then(|| "lanes fetch several values in each step".to_owned()),
        counts,
        bound,
        lane_bits: question.lane_bits,
        to: Vec::new(),
        levels,
        totals,
        back: Vec::new(),
    })
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
        Ok(scan) if scan.shared_bytes <= means.scratch_bytes => Ok(scan),
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
    let all = || to.iter().chain(&back);
    let counts = all().fold(inner.counts, |sum, plan| sum.plus(plan.counts));
    let bound = Bound { exchanges: 0, ..Bound::default() };
    Ok(Scan {
        cost: inner.cost + all().map(|plan| plan.cost).sum::<f64>(),
        shared_bytes: inner.shared_bytes + all().map(|plan| plan.shared_bytes).sum::<u64>(),
        above_bound: (!bound.is_met(&counts)).then(|| "whole lines are moved to single lanes and back".to_owned()),
        counts,
        bound,
        to,
        back,
        ..inner
    })
}

impl Scan {
    /// What a lane stores to shared memory and loads from it.
    #[must_use]
    pub fn shared_bits(&self) -> SharedBits {
        let totals = self.totals.iter().flat_map(|totals| &totals.moves);
        SharedBits::of_all(self.to.iter().chain(totals).chain(&self.back))
    }

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
