//! Combining between the lanes of a warp.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_target::LaneXors;

use super::super::address::Thread;
use super::super::source::Source;
use super::super::tuples::{Combine, exchanged, words};

/// One step: lanes that differ in a bit combine what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneStep {
    /// Both end with all sums.
    Sum {
        /// The lane bit.
        lane: u32,
        /// Whether both combine the lower lane's tuple with the upper one's, in this order, so that both come to the same bits
        /// where a combination rounds by its order.
        ordered: bool,
    },
    /// Each ends with half of the sums: the lower lane with those of the even registers, the upper one
    /// with those of the odd ones. Registers are numbered anew without their lowest bit.
    Halve {
        /// The lane bit.
        lane: u32,
    },
}

/// What the steps execute on `2^register_bits` registers of each tensor.
pub(super) fn counts(steps: &[LaneStep], element_bits: &[u32], register_bits: u32, xors: LaneXors) -> Counts {
    let (mut counts, mut registers) = (Counts::default(), 1u64 << register_bits);
    for step in steps {
        if let LaneStep::Halve { .. } = step {
            counts.selects += registers * element_bits.len() as u64;
            registers /= 2;
        }
        let exchanges = element_bits.iter().map(|&bits| words(bits, registers)).sum::<u64>();
        counts.exchanges += exchanges;
        if xors.contains(1 << step.lane()) {
            counts.exchanges_xor += exchanges;
        }
    }
    counts
}

impl LaneStep {
    /// The step, with what both lanes come to combined in the order of the lanes.
    pub(super) fn in_order(self) -> Self {
        match self {
            Self::Sum { lane, .. } => Self::Sum { lane, ordered: true },
            halve @ Self::Halve { .. } => halve,
        }
    }

    fn lane(self) -> u32 {
        match self {
            Self::Sum { lane, .. } | Self::Halve { lane } => lane,
        }
    }

    /// The tuples after the step, one for each register that is left.
    pub(super) fn emit(
        self,
        builder: &mut Builder,
        (thread, xors): (Thread, LaneXors),
        tuples: Vec<Vec<Value>>,
        combine: &mut Combine,
    ) -> Vec<Vec<Value>> {
        let lane = match self {
            Self::Sum { lane, ordered } => {
                return butterfly(builder, (thread, xors), (lane, ordered), tuples, combine);
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
        let across = Source::across(builder, thread, 1 << lane, xors);
        let received = exchanged(builder, across, &sent);
        kept.iter().zip(&received).map(|(own, other)| combine(builder, own, other)).collect()
    }
}

/// Every lane combines its tuples with those of the lane that differs in one bit.
fn butterfly(
    builder: &mut Builder,
    (thread, xors): (Thread, LaneXors),
    (lane, ordered): (u32, bool),
    tuples: Vec<Vec<Value>>,
    combine: &mut Combine,
) -> Vec<Vec<Value>> {
    let across = Source::across(builder, thread, 1 << lane, xors);
    let received = exchanged(builder, across, &tuples);
    if !ordered {
        return tuples.iter().zip(&received).map(|(own, other)| combine(builder, own, other)).collect();
    }
    let upper = thread.parity(builder, 1 << lane);
    let combined = tuples.iter().zip(&received).map(|(own, other)| {
        let pairs = || own.iter().zip(other);
        let below: Vec<Value> = pairs().map(|(&own, &other)| builder.select(upper, other, own)).collect();
        let above: Vec<Value> = pairs().map(|(&own, &other)| builder.select(upper, own, other)).collect();
        combine(builder, &below, &above)
    });
    combined.collect()
}
