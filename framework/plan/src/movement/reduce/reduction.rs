//! Plans reductions along one axis: the candidates, their prices and the lower bound.

use super::lanes::LaneStep;
use super::problem::Question;
use super::way::Way;
use crate::movement::address::Thread;
use crate::movement::convert::least_to_convert;
use crate::movement::price::slots_with_accesses;
use crate::movement::tuples::{Combine, by_tensor, moved};
use crate::movement::{Bound, MovementError, Plan, PlanContext, PlanStats, convert, cost, slots};
use std::cmp::Ordering;
use tilewright_kernel::{Builder, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, LaneXors, TargetDescription};

/// How a tensor, or a tuple of tensors of one layout, is reduced along an axis.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// Where the results are: the source's layout without the axis, in every lane that held a part
    /// (Triton's slice of the source's layout).
    pub result: LinearLayout,
    /// Counts, memory, cost, and the bound of reductions to this layout.
    pub stats: PlanStats,
    /// For every kept register the source registers that are combined into it.
    sources: Vec<Vec<usize>>,
    lane_bits: u32,
    /// Numbers by which lanes that exchange may differ.
    xors: LaneXors,
    before: Vec<LaneStep>,
    /// How the parts move, for each tensor of the tuple.
    moves: Vec<Plan>,
    /// Log2 of the parts that a lane combines after they moved.
    parts_in_registers: u32,
    /// What is combined between lanes after the parts moved.
    after: Vec<LaneStep>,
    /// How the results are handed out, for each tensor of the tuple; empty where they need not be.
    handed_out: Vec<Plan>,
}

/// The cheapest reduction along `axis` of tensors in layout `src`, whose elements have
/// `element_bits` bits, one entry for each tensor of the tuple.
///
/// # Errors
/// [`MovementError`]: no such axis, no tensors, elements of no known width, a layout that is not
/// surjective or has bases that move along the axis and along others at once, blocks that hold
/// different parts of the axis.
pub fn reduce(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<Reduction, MovementError> {
    let problem = Question::new(src, axis, element_bits)?;
    let context = PlanContext::of(target).with_access_slots(ACCESS_SLOTS);
    let (mut best, mut rejected) = (None::<Reduction>, None);
    for way in Way::all(&problem)? {
        let most = best.as_ref().map_or(f64::INFINITY, price);
        if least_price(&problem, &way, context)? > most {
            continue;
        }
        match build(&problem, &way, context) {
            Ok(reduction) if best.as_ref().is_none_or(|best| compare(&reduction, best).is_lt()) => {
                best = Some(reduction);
            }
            Ok(_) => {}
            Err(error) => rejected = Some(error),
        }
    }
    best.ok_or_else(|| rejected.unwrap_or_else(no_way))
}

fn no_way() -> MovementError {
    MovementError::impossible("there is no way to reduce")
}

/// What an access of shared memory counts beside its wavefronts, in slots. Reductions move little by many
/// accesses, so that the issuing and addressing of each, which [`crate::movement::slots`] leaves out, is a large part of them.
/// With less, one trip of more accesses would be chosen over two of fewer where four warps hold parts.
const ACCESS_SLOTS: f64 = 8.0;

/// The ways that [`reduce`] weighs, the best first: that of the fewest [`crate::movement::slots`], each access of shared
/// memory counting some more, then of the fewest cycles.
///
/// # Errors
/// As for [`reduce`].
pub fn reductions(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<Vec<Reduction>, MovementError> {
    let problem = Question::new(src, axis, element_bits)?;
    let context = PlanContext::of(target).with_access_slots(ACCESS_SLOTS);
    let ways = Way::all(&problem)?;
    let (mut all, mut rejected) = (Vec::new(), None);
    for way in &ways {
        match build(&problem, way, context) {
            Ok(reduction) => all.push(reduction),
            Err(error) => rejected = Some(error),
        }
    }
    if all.is_empty() {
        return Err(rejected.unwrap_or_else(no_way));
    }
    all.sort_by(compare);
    all.dedup_by(|a, b| a.stats.counts == b.stats.counts && a.before == b.before && a.after == b.after);
    Ok(all)
}

fn price(reduction: &Reduction) -> f64 {
    slots_with_accesses(&reduction.stats.counts, ACCESS_SLOTS)
}

fn compare(a: &Reduction, b: &Reduction) -> Ordering {
    price(a).total_cmp(&price(b)).then(a.stats.cost.total_cmp(&b.stats.cost))
}

/// What no reduction that goes the way can cost less than.
fn least_price(problem: &Question, way: &Way, context: PlanContext<'_>) -> Result<f64, MovementError> {
    let mut least = slots(&way.counts_of_lanes(problem, context.target.lane_xors(u32::BITS)));
    for &bits in &problem.element_bits {
        least += least_to_convert(&way.src, &way.dst, bits, context)?;
        if let Some(left) = &way.left {
            least += least_to_convert(left, &problem.result, bits, context)?;
        }
    }
    Ok(least)
}

/// The reduction that goes a way by the given means. Each of its moves has shared memory of its own: all that they
/// want where a block has that, else a share each.
fn build(problem: &Question, way: &Way, context: PlanContext<'_>) -> Result<Reduction, MovementError> {
    let most = u64::from(context.target.shared.bytes);
    let reduction = build_within(problem, way, context)?;
    if reduction.stats.shared_bytes <= most {
        return Ok(reduction);
    }
    let moves = reduction.moves.len() + reduction.handed_out.len();
    build_within(problem, way, context.with_scratch(most / moves.max(1) as u64))
}

fn build_within(problem: &Question, way: &Way, context: PlanContext<'_>) -> Result<Reduction, MovementError> {
    let target = context.target;
    let converted = |src: &LinearLayout, dst: &LinearLayout| -> Result<Vec<Plan>, MovementError> {
        problem.element_bits.iter().map(|&bits| convert(src, dst, bits, context)).collect()
    };
    let moves = converted(&way.src, &way.dst)?;
    let handed_out = way.left.as_ref().map(|left| converted(left, &problem.result)).transpose()?.unwrap_or_default();
    let xors = target.lane_xors(u32::BITS);
    let counts = way.counts_of_lanes(problem, xors);
    let stages = (way.before.len() + way.after.len()) as u64;
    let cost = cost(&counts, 1 << problem.warp_bits, stages, target);
    let stats = PlanStats { counts, cost, ..PlanStats::default() }
        .then(moves.iter().chain(&handed_out).map(|plan| &plan.stats))
        .with_bound(bound(problem, &moves, target), || why_above(problem));
    Ok(Reduction {
        result: problem.result.clone(),
        stats,
        sources: problem.sources(),
        lane_bits: problem.lane_bits,
        xors,
        before: way.before.clone(),
        moves,
        parts_in_registers: way.parts_in_registers,
        after: way.after.clone(),
        handed_out,
    })
}

fn why_above(problem: &Question) -> String {
    if problem.part_bits > 0 {
        return "whole parts are moved, not combined on the way, and results are wanted in several warps".to_owned();
    }
    "every lane is given every result; combining in halves and handing out would cost more selects".to_owned()
}

/// Within a warp: every result depends on all lanes of its group, and an exchange at most doubles
/// the lanes that a value depends on; and each result needs as many words received as there are
/// other lanes, once to combine and, unless memory does it, once to hand out. Between warps: all parts but one of each result
/// leave their warp, spread over the warps.
fn bound(problem: &Question, moves: &[Plan], target: &TargetDescription) -> Bound {
    if problem.part_bits == 0 {
        let depth = problem.summing_lanes().count() as u64;
        let words = |bits: &u32| (u64::from(*bits) << problem.distinct_kept()).div_ceil(u64::from(u32::BITS));
        let handed_out = |(_, plan): &(&u32, &Plan)| plan.stats.counts.shared_stores == 0;
        let by_exchanges = problem.element_bits.iter().zip(moves).filter(handed_out).map(|(bits, _)| words(bits));
        let all = problem.element_bits.iter().map(words).sum::<u64>() + by_exchanges.sum::<u64>();
        let received = (all * ((1 << depth) - 1)).div_ceil(1 << depth);
        return Bound { exchanges: depth.max(received), ..Bound::default() };
    }
    let in_block: u64 = problem.element_bits.iter().map(|&bits| u64::from(bits) << problem.result.outs().bits()).sum();
    let leaving = (in_block * ((1 << problem.part_bits) - 1)) >> problem.block_bits();
    let moved = |direction| {
        let rows = target.shared.banks.iter().filter(|row| row.directions.contains(&direction));
        let most = rows.map(|row| row.wavefront_bytes() * 8).max().unwrap_or(1).max(1);
        leaving.div_ceil(most << problem.warp_bits)
    };
    Bound { wavefronts_stored: moved(Direction::Store), wavefronts_loaded: moved(Direction::Load), exchanges: 0 }
}

impl Reduction {
    /// The same reduction for what rounds by the order of its sides: lanes that come to the same result combine in one
    /// order, and so hold the same bits. Takes two selects for each word that is exchanged, which `counts` does not have.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        for step in self.before.iter_mut().chain(&mut self.after) {
            *step = step.in_order();
        }
        self
    }

    /// Lane bits along which lanes share the results out while they combine, each keeping half.
    #[must_use]
    pub fn halving_lanes(&self) -> usize {
        self.before.iter().filter(|step| matches!(step, LaneStep::Halve { .. })).count()
    }

    /// Lane bits along which lanes read different parts of what warps held, to combine them by exchange.
    #[must_use]
    pub fn reading_lanes(&self) -> usize {
        self.after.len()
    }

    /// Whether each result is combined once and then handed out by a second trip.
    #[must_use]
    pub fn hands_out(&self) -> bool {
        !self.handed_out.is_empty()
    }

    /// Writes the reduction's kernel IR. `inputs` holds, for each tensor of the tuple, one value for
    /// each source register; the result holds likewise the registers of [`Reduction::result`]. Values
    /// have any element type of the widths that were planned for.
    ///
    /// # Panics
    /// Where there are not as many inputs, or values in them, as planned for.
    pub fn emit(&self, builder: &mut Builder, inputs: &[Vec<Value>], combine: &mut Combine) -> Vec<Vec<Value>> {
        let mut kept: Vec<Vec<Value>> = Vec::with_capacity(self.sources.len());
        for group in &self.sources {
            let tuple = |register: usize| inputs.iter().map(|values| values[register]).collect::<Vec<_>>();
            let mut sum = tuple(group[0]);
            for &register in &group[1..] {
                sum = combine(builder, &sum, &tuple(register));
            }
            kept.push(sum);
        }
        let thread = (Thread::new(builder, self.lane_bits), self.xors);
        for step in &self.before {
            kept = step.emit(builder, thread, kept, combine);
        }
        let parts = moved(builder, &self.moves, &kept);
        let mut results: Vec<Vec<Value>> = Vec::new();
        for group in parts.chunks(1 << self.parts_in_registers) {
            let mut sum = group[0].clone();
            for part in &group[1..] {
                sum = combine(builder, &sum, part);
            }
            results.push(sum);
        }
        for step in &self.after {
            results = step.emit(builder, thread, results, combine);
        }
        if !self.handed_out.is_empty() {
            results = moved(builder, &self.handed_out, &results);
        }
        by_tensor(&results, inputs.len())
    }
}
