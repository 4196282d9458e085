//! Plans conversions by shuffles: the search for the plan of the fewest cycles, and a lower bound of these cycles.

use super::search;
use super::shuffles::ShufflePlan;
use super::words::WORD_BITS;
use crate::movement::bound;
use crate::movement::convert::plan::{ConversionKind, ConversionPlan, Steps};
use crate::movement::price::predict_cycles;
use crate::movement::{ConversionProblem, PlanStats};
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// Lower bound of the cycles of all conversions by shuffles, which may be shuffles by an index or by a lane xor.
pub(crate) fn cycles_lower_bound(conversion: &ConversionProblem, target: &TargetDescription) -> f64 {
    let by_xor = bound::of_shuffles(conversion, target).least_counts();
    let by_index = Counts { shuffles_xor: 0, ..by_xor };
    let time = |counts: &Counts| predict_cycles(counts, conversion.warps(), 1, target);
    time(&by_xor).min(time(&by_index))
}

/// Plans the conversion by shuffles of the fewest predicted cycles; an error if they are `most` or more.
pub(crate) fn plan(
    conversion: &ConversionProblem,
    target: &TargetDescription,
    most: f64,
) -> Result<ConversionPlan, String> {
    let shuffle_bits = target.index_shuffle_bits().ok_or("the target has no indexed shuffle")?;
    if shuffle_bits != WORD_BITS {
        return Err(format!("shuffles of {shuffle_bits} bits; plans need {WORD_BITS}"));
    }
    let origin = conversion.origin.as_ref().ok_or("elements cross blocks")?;
    if origin.crosses_warps(conversion.lane_mask()) {
        return Err("a warp needs elements of other warps".to_owned());
    }
    let best = search::best(conversion, origin, target, most)?;
    Ok(priced(conversion, best, target))
}

fn priced(conversion: &ConversionProblem, shuffles: ShufflePlan, target: &TargetDescription) -> ConversionPlan {
    let (counts, cost) = (shuffles.counts(), shuffles.cycles(conversion.warps(), target));
    let bound = bound::of_shuffles(conversion, target);
    ConversionPlan {
        path: if counts.shuffles == 0 { ConversionKind::Register } else { ConversionKind::Shuffle },
        stats: PlanStats { counts, cost, ..PlanStats::default() }
            .with_bound(bound, || shuffles.why_above(bound.shuffles)),
        steps: Steps::Shuffles(Box::new(shuffles)),
    }
}
