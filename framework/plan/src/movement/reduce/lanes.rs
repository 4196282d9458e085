//! The steps of a reduction between the lanes of a warp.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_target::{ShuffleXorMasks, TargetDescription};

use super::super::address::ThreadIndices;
use super::super::shuffle_source::Source;
use super::super::variadic::{EmitCombine, emit_shuffle_tuples, words};
use crate::cost::WarpWork;

/// One step of a reduction: pairs of lanes, whose indices differ in one bit, combine their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneStep {
    /// Both lanes get all combined values (butterfly).
    Sum {
        /// The lane bit that differs between the two lanes.
        lane: u32,
        /// Whether both lanes combine in one order, the lower lane's tuple first. Then both get the same bits even if
        /// the operation rounds.
        ordered: bool,
    },
    /// Each lane gets half of the combined values: the lower lane those of the even registers, the upper one those of
    /// the odd registers. The lowest register bit is then dropped.
    Halve {
        /// The lane bit that differs between the two lanes.
        lane: u32,
    },
    /// Lanes whose indices differ in bits of the mask `lanes` get the values of the one lane that has zeros there.
    Broadcast {
        /// The mask of lane bits.
        lanes: u32,
    },
}

/// Returns the work of a warp for the steps; before the first step a lane has `2^register_bits` registers of each
/// tensor. In each step a select, a shuffle and a combining operation wait for each other.
pub(super) fn work(steps: &[LaneStep], element_bits: &[u32], register_bits: u32, xors: ShuffleXorMasks) -> WarpWork {
    let (mut work, mut registers) = (WarpWork::default(), 1u64 << register_bits);
    let tensors = element_bits.len() as u64;
    for (step, partner) in with_partners(steps, xors) {
        if let LaneStep::Halve { .. } = step {
            work.counts.selects += registers * tensors;
            work.chain.selects += 1;
            registers /= 2;
        }
        let shuffles = element_bits.iter().map(|&bits| words(bits, registers)).sum::<u64>();
        let across = u64::from(xors.contains(u64::from(partner)));
        work.counts.shuffles += shuffles;
        work.counts.shuffles_xor += shuffles * across;
        work.instructions += (registers * tensors) as f64;
        work.chain =
            work.chain.add_counts(Counts { shuffles: 1, shuffles_xor: across, selects: 1, ..Counts::default() });
    }
    work
}

/// Returns each step with the xor of a lane's index and its partner's: the step's own bit. Bits of earlier steps of
/// kind `Sum` are added if the target can shuffle by a constant mask only with them; lanes that differ in these bits
/// have the same value.
pub(super) fn with_partners(steps: &[LaneStep], xors: ShuffleXorMasks) -> impl Iterator<Item = (LaneStep, u32)> {
    steps.iter().scan(0u32, move |summed, &step| {
        let own = step.lanes();
        let masks = (0..=*summed).filter(|&bits| bits & !*summed == 0).map(|bits| own | bits);
        let partner = masks.into_iter().find(|&mask| xors.contains(u64::from(mask))).unwrap_or(own);
        if let LaneStep::Sum { .. } = step {
            *summed |= own;
        }
        Some((step, partner))
    })
}

/// Changes steps so that lanes with equal results get the same bits even if the operation rounds: in each step both
/// lanes combine in one order, by two selects for each shuffled word, or a last step broadcasts the results of one
/// lane, by one shuffle for each word, whichever takes fewer cycles.
pub(super) fn make_replicas_equal(steps: &mut Vec<LaneStep>, target: &TargetDescription) {
    let is_sum = |step: &&LaneStep| matches!(step, LaneStep::Sum { .. });
    let summed: Vec<u32> = steps.iter().filter(is_sum).map(|step| step.lanes()).collect();
    if target.costs.shuffle.cycles < (2 * summed.len()) as f64 * target.costs.select.cycles {
        steps.push(LaneStep::Broadcast { lanes: summed.iter().sum() });
        return;
    }
    for step in steps {
        if let LaneStep::Sum { ordered, .. } = step {
            *ordered = true;
        }
    }
}

impl LaneStep {
    /// The mask of lane bits along which lanes exchange values.
    fn lanes(self) -> u32 {
        match self {
            Self::Sum { lane, .. } | Self::Halve { lane } => 1 << lane,
            Self::Broadcast { lanes } => lanes,
        }
    }

    /// Emits the step: lanes whose indices differ by the mask `partner` exchange tuples and combine them. `tuples` has
    /// a tuple for each register; the result has one for each register that remains.
    pub(super) fn emit(
        self,
        builder: &mut Builder,
        (thread, xors, partner): (ThreadIndices, ShuffleXorMasks, u32),
        tuples: Vec<Vec<Value>>,
        combine: &mut EmitCombine,
    ) -> Vec<Vec<Value>> {
        let lane = match self {
            Self::Sum { lane, ordered } => {
                return butterfly(builder, (thread, xors, partner), (lane, ordered), tuples, combine);
            }
            Self::Broadcast { lanes } => {
                let first = Source::Lane(thread.lane_with(builder, 0, lanes));
                return emit_shuffle_tuples(builder, first, &tuples);
            }
            Self::Halve { lane } => lane,
        };
        let upper = thread.parity(builder, 1 << lane);
        let choose = |builder: &mut Builder, pair: &[Vec<Value>], keep: bool| -> Vec<Value> {
            let (even, odd) = (&pair[0], &pair[1]);
            let chosen = even.iter().zip(odd).map(|(&even, &odd)| {
                let (above, below) = if keep { (odd, even) } else { (even, odd) };
                builder.select(upper, above, below)
            });
            chosen.collect()
        };
        let kept: Vec<_> = tuples.chunks(2).map(|pair| choose(builder, pair, true)).collect();
        let sent: Vec<_> = tuples.chunks(2).map(|pair| choose(builder, pair, false)).collect();
        let across = Source::across(builder, thread, partner, xors);
        let received = emit_shuffle_tuples(builder, across, &sent);
        kept.iter().zip(&received).map(|(kept_value, other)| combine(builder, kept_value, other)).collect()
    }
}

/// Emits the combination of each lane's tuples with those of its partner, whose index differs in the bit `lane`; both
/// lanes get the results.
fn butterfly(
    builder: &mut Builder,
    (thread, xors, partner): (ThreadIndices, ShuffleXorMasks, u32),
    (lane, ordered): (u32, bool),
    tuples: Vec<Vec<Value>>,
    combine: &mut EmitCombine,
) -> Vec<Vec<Value>> {
    let across = Source::across(builder, thread, partner, xors);
    let received = emit_shuffle_tuples(builder, across, &tuples);
    if !ordered {
        return tuples.iter().zip(&received).map(|(kept_value, other)| combine(builder, kept_value, other)).collect();
    }
    let upper = thread.parity(builder, 1 << lane);
    let combined = tuples.iter().zip(&received).map(|(kept_value, other)| {
        let pairs = || kept_value.iter().zip(other);
        let below: Vec<Value> = pairs().map(|(&kept_value, &other)| builder.select(upper, other, kept_value)).collect();
        let above: Vec<Value> = pairs().map(|(&kept_value, &other)| builder.select(upper, kept_value, other)).collect();
        combine(builder, &below, &above)
    });
    combined.collect()
}
