//! Sources of which threads hold copies: before the copies are moved they take a share of the work.
//!
//! Where a thread bit tells copies apart, both threads hold the same registers. Each of the two can
//! keep half of them, which costs selects but moves nothing; what is left is a layout with fewer
//! copies, which is stored or exchanged in fewer accesses.

use tilewright_layout::f2::Subspace;

use super::super::conversion::Side;
use super::super::{Conversion, PlanContext, price};
use super::plan::Plan;
use super::weighed::Weighed;
use super::{exchange, shared};

/// Weighs plans that first spread copies.
pub(super) fn plans(conversion: &Conversion, context: &PlanContext<'_>, weighed: &mut Weighed) {
    for spread in sources(conversion) {
        let first = conversion.between(&conversion.src, &spread);
        let Ok(before) = exchange::plan(&first, context.target, weighed.most()) else { continue };
        if before.stats.counts.exchanges > 0 {
            continue;
        }
        let second = conversion.between(&spread, &conversion.dst);
        let left = weighed.most() - price::slots(&before.stats.counts);
        let exchanged = exchange::plan(&second, context.target, left).ok();
        let worth = shared::least_slots(&second, context) <= left;
        let stored = worth.then(|| shared::plan(&second, context).ok()).flatten();
        for after in exchanged.into_iter().chain(stored) {
            let path = after.path;
            weighed.add(path, Ok(Plan::sequence(path, conversion, before.clone(), after, context)));
        }
    }
}

/// The source with copies spread over warps, then lanes, and over lanes alone: but for a vector of
/// registers, and as far as it goes.
fn sources(conversion: &Conversion) -> Vec<Side> {
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
        let spread = (&threads[..count], count);
        if count > 0 && !spreads.contains(&spread) {
            spreads.push(spread);
        }
    }
    let spread = |(threads, count): (&[usize], usize)| {
        let mut side = conversion.src.clone();
        for (&bit, &column) in threads.iter().zip(&given) {
            side.threads[bit] = column;
        }
        side.registers = given.iter().rev().copied().take(given.len() - count).collect();
        side
    };
    spreads.into_iter().map(spread).collect()
}

/// The source's register columns without copies, those to be given to threads first: what threads
/// of the destination hold, then what its registers do not, then what both keep in registers.
fn order_of_giving(conversion: &Conversion) -> Vec<u64> {
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
