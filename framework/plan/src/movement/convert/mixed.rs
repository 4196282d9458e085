//! Plans that move some bits by shuffles and the others through shared memory.
//!
//! An access of shared memory moves elements that one thread holds contiguously on both sides. If these fill less than
//! a bank, most of every wavefront is empty. A shuffle before the store, or after the load, swaps a lane bit whose
//! elements the other side has in registers for a register bit whose elements the other side has not. Each swap doubles
//! the number of elements of an access.

use smallvec::SmallVec;

use tilewright_layout::f2::Subspace;

use super::super::conversion::ConversionSide;
use super::super::{ConversionProblem, PlanContext};
use super::plan::{ConversionKind, ConversionPlan};
use super::weighed::Weighed;
use super::{shared, shuffle};

/// Max number of swaps of a lane bit with a register bit: four, from accesses of one byte to accesses of 16 bytes.
const MOST_SWAPS: usize = 4;

/// Plans candidates that shuffle before the store or after the load, and adds them to `weighed`.
pub(super) fn plans(conversion: &ConversionProblem, context: &PlanContext<'_>, weighed: &mut Weighed) {
    for between in swapped(&conversion.src, &conversion.dst, conversion) {
        let before = conversion.between(&conversion.src, &between);
        let after = conversion.between(&between, &conversion.dst);
        let Some(shuffle_plan) = plan_shuffles(&before, &after, context, weighed) else { continue };
        if let Ok(moved) = shared::plan(&after, context) {
            weighed.add(
                ConversionKind::Mixed,
                Ok(ConversionPlan::sequence(ConversionKind::Mixed, conversion, shuffle_plan, moved, context)),
            );
        }
    }
    for between in swapped(&conversion.dst, &conversion.src, conversion) {
        let before = conversion.between(&conversion.src, &between);
        let after = conversion.between(&between, &conversion.dst);
        let Some(shuffle_plan) = plan_shuffles(&after, &before, context, weighed) else { continue };
        if let Ok(moved) = shared::plan(&before, context) {
            weighed.add(
                ConversionKind::Mixed,
                Ok(ConversionPlan::sequence(ConversionKind::Mixed, conversion, moved, shuffle_plan, context)),
            );
        }
    }
}

/// Plans the conversion `shuffles` by shuffles, as one part of a mixed plan whose other part, `rest`, goes through
/// shared memory. `None` if both parts cannot together take fewer cycles than the best candidate.
fn plan_shuffles(
    shuffles: &ConversionProblem,
    rest: &ConversionProblem,
    context: &PlanContext<'_>,
    weighed: &Weighed,
) -> Option<ConversionPlan> {
    let left = weighed.most() - shared::cycles_lower_bound(rest, context);
    if shuffle::cycles_lower_bound(shuffles, context.target) >= left {
        return None;
    }
    shuffle::plan(shuffles, context.target, left).ok()
}

/// Returns variants of the layout `side` with lane bits swapped for register bits: one swap, two, and so on, until the
/// widest access is full. The layout `other` has the elements of the swapped lane bits in registers, and does not have
/// those of the swapped register bits there.
fn swapped(side: &ConversionSide, other: &ConversionSide, conversion: &ConversionProblem) -> Vec<ConversionSide> {
    let span = |columns: &[u64]| Subspace::span(columns.iter().copied());
    let (side_span, required) = (span(&side.registers), span(&other.registers));
    let together = side_span.intersection(&required).dimension();
    let widest = (128 / conversion.element.bits()).max(1).trailing_zeros();
    let room = widest.saturating_sub(together) as usize;
    let lanes: SmallVec<[usize; 8]> = (0..conversion.lane_bits as usize)
        .filter(|&bit| !side_span.contains(side.threads[bit]) && required.contains(side.threads[bit]))
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
