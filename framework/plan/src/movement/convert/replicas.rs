//! Work sharing among replicas: threads that hold the same elements divide them before the conversion.
//!
//! If a thread bit only selects a replica, both threads hold the same registers. Each can keep half of them, at the
//! cost of selects and without moving data. The remaining layout has fewer replicas, and its stores or shuffles take
//! fewer accesses.

use tilewright_layout::f2::Subspace;

use super::super::conversion::ConversionSide;
use super::super::price::occupied_cycles;
use super::super::{ConversionProblem, PlanContext};
use super::plan::ConversionPlan;
use super::weighed::Weighed;
use super::{shared, shuffle};

/// Plans candidates that first divide replicas among threads, and adds them to `weighed`.
pub(super) fn plans(conversion: &ConversionProblem, context: &PlanContext<'_>, weighed: &mut Weighed) {
    for replicas in sources(conversion) {
        let first = conversion.between(&conversion.src, &replicas);
        let Ok(before) = shuffle::plan(&first, context.target, weighed.most()) else { continue };
        if before.stats.counts.shuffles > 0 {
            continue;
        }
        let second = conversion.between(&replicas, &conversion.dst);
        let left = weighed.most() - occupied_cycles(&before.stats.counts, conversion.warps(), context.target);
        let shuffle_plan = shuffle::plan(&second, context.target, left).ok();
        let worth = shared::cycles_lower_bound(&second, context) <= left;
        let stored = worth.then(|| shared::plan(&second, context).ok()).flatten();
        for after in shuffle_plan.into_iter().chain(stored) {
            let path = after.path;
            weighed.add(path, Ok(ConversionPlan::sequence(path, conversion, before.clone(), after, context)));
        }
    }
}

/// Returns source layouts in which threads that hold replicas divide the registers among them. One group of layouts
/// divides over warp bits and then lane bits: over as many bits as there are warp bits with replicas, over as many as
/// leave 128 bits of elements in a lane, and over as many as possible. The other group divides over lane bits alone,
/// with each number of bits.
fn sources(conversion: &ConversionProblem) -> Vec<ConversionSide> {
    let lane_bits = conversion.lane_bits as usize;
    let own = Subspace::span(conversion.src.registers.iter().copied());
    let copies = |bits: std::ops::Range<usize>| {
        bits.rev().filter(|&bit| own.contains(conversion.src.threads[bit])).collect::<Vec<_>>()
    };
    let warps = copies(lane_bits..conversion.src.threads.len());
    let lanes = copies(0..lane_bits);
    if warps.is_empty() && lanes.is_empty() {
        return Vec::new();
    }
    let given = order_of_giving(conversion);
    let vector_bits = (128 / conversion.element.bits()).trailing_zeros() as usize;
    let unless_vector = given.len().saturating_sub(vector_bits);
    let both = [&warps[..], &lanes].concat();
    let over_both = [warps.len(), unless_vector, given.len()].map(|count| (&both, count));
    let over_lanes = (1..=given.len()).map(|count| (&lanes, count));
    let mut spreads: Vec<(&[usize], usize)> = Vec::new();
    for (threads, count) in over_both.into_iter().chain(over_lanes) {
        let count = count.min(threads.len()).min(given.len());
        let replicas = (&threads[..count], count);
        if count > 0 && !spreads.contains(&replicas) {
            spreads.push(replicas);
        }
    }
    let replicas = |(threads, count): (&[usize], usize)| {
        let mut side = conversion.src.clone();
        for (&bit, &column) in threads.iter().zip(&given) {
            side.threads[bit] = column;
        }
        side.registers = given.iter().rev().copied().take(given.len() - count).collect();
        side
    };
    spreads.into_iter().map(replicas).collect()
}

/// Returns the source's distinct register columns in the order of their division among threads: first those that are
/// columns of the destination's threads, then those that the destination's registers lack, then the others.
fn order_of_giving(conversion: &ConversionProblem) -> Vec<u64> {
    let mut space = Subspace::zero();
    let distinct: Vec<u64> = conversion.src.registers.iter().copied().filter(|&c| space.insert(c)).collect();
    let required = Subspace::span(conversion.dst.registers.iter().copied());
    let mut order = distinct;
    order.reverse();
    order.sort_by_key(|column| match (conversion.dst.threads.contains(column), required.contains(*column)) {
        (true, _) => 0,
        (_, false) => 1,
        (_, true) => 2,
    });
    order
}
