//! Plans in which some bits move by exchange and the others through shared memory.
//!
//! An access of shared memory moves what one thread holds together on both sides. Where that is less than a
//! bank, most of every wavefront is empty. Lanes that exchange first, or afterwards, swap a lane bit that the
//! other side has in registers for a register bit that it has not: each swap doubles what lies together.

use smallvec::SmallVec;

use tilewright_layout::f2::Subspace;

use super::super::conversion::Side;
use super::super::{Conversion, PlanContext, bound};
use super::plan::{Path, Plan};
use super::weighed::Weighed;
use super::{exchange, shared};

/// Most bits that are swapped: from a byte to the widest access.
const MOST_SWAPS: usize = 4;

/// Weighs plans that exchange before the store or after the load.
pub(super) fn plans(conversion: &Conversion, context: &PlanContext<'_>, weighed: &mut Weighed) {
    for between in swapped(&conversion.src, &conversion.dst, conversion) {
        let before = conversion.between(&conversion.src, &between);
        let after = conversion.between(&between, &conversion.dst);
        let Some(exchanged) = exchanged(&before, &after, context, weighed) else { continue };
        if let Ok(moved) = shared::plan(&after, context) {
            weighed.add(Path::Mixed, Ok(Plan::sequence(Path::Mixed, conversion, exchanged, moved, context)));
        }
    }
    for between in swapped(&conversion.dst, &conversion.src, conversion) {
        let before = conversion.between(&conversion.src, &between);
        let after = conversion.between(&between, &conversion.dst);
        let Some(exchanged) = exchanged(&after, &before, context, weighed) else { continue };
        if let Ok(moved) = shared::plan(&before, context) {
            weighed.add(Path::Mixed, Ok(Plan::sequence(Path::Mixed, conversion, moved, exchanged, context)));
        }
    }
}

/// The exchanges of a mixed plan, where the whole can be better than what is known.
fn exchanged(exchanges: &Conversion, rest: &Conversion, context: &PlanContext<'_>, weighed: &Weighed) -> Option<Plan> {
    let left = weighed.most() - shared::least_slots(rest, context);
    if bound::of_exchanges(exchanges, context.target).slots() >= left {
        return None;
    }
    exchange::plan(exchanges, context.target, left).ok()
}

/// `side` with lane bits that `other` has in registers swapped for register bits that it has not: one
/// swap, two, and so on, until the widest access is full.
fn swapped(side: &Side, other: &Side, conversion: &Conversion) -> Vec<Side> {
    let span = |columns: &[u64]| Subspace::span(columns.iter().copied());
    let (held, required) = (span(&side.registers), span(&other.registers));
    let together = held.intersection(&required).dimension();
    let widest = (128 / conversion.element.bits()).max(1).trailing_zeros();
    let room = widest.saturating_sub(together) as usize;
    let lanes: SmallVec<[usize; 8]> = (0..conversion.lane_bits as usize)
        .filter(|&bit| !held.contains(side.threads[bit]) && required.contains(side.threads[bit]))
        .collect();
    let registers: SmallVec<[usize; 8]> =
        (0..side.registers.len()).rev().filter(|&bit| !required.contains(side.registers[bit])).collect();
    let most = room.min(lanes.len()).min(registers.len()).min(MOST_SWAPS);
    let swap = |count: usize| {
        let mut swapped = side.clone();
        for (&lane, &register) in lanes.iter().zip(&registers).take(count) {
            std::mem::swap(&mut swapped.threads[lane], &mut swapped.registers[register]);
        }
        swapped
    };
    (1..=most).map(swap).collect()
}
