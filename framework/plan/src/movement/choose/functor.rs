//! Search of swizzles `Swizzle<B,M,S>` over the axes in some order (Hexcute paper, section on shared memory). There are
//! few enough to try all that change the banks.

use tilewright_layout::cute::Swizzle;
use tilewright_layout::f2::{Columns, multiply_vector};

use super::choice::SharedLayoutKind;
use super::estimate;
use super::problem::SharedLayoutProblem;
use super::weigh::{Proposal, Weigher};

/// Compares all swizzles that keep the lowest `kept` offset bits, each applied to each plain layout of `bases`, and
/// weighs the best result. Of equally good swizzles the first wins, which changes the fewest bits.
pub(super) fn search(weigher: &mut Weigher<'_>, bases: &[Columns], kept: u32) {
    let problem = weigher.problem;
    let all: Vec<usize> = (0..problem.sides.len()).collect();
    let mut best: Option<(u64, Swizzle, Columns)> = None;
    for swizzle in swizzles(problem, kept) {
        for base in bases {
            // A swizzle is its own inverse: an offset has the element that the base layout has at the swizzled offset.
            let offset_of_bit = (0..problem.bits).map(|bit| multiply_vector(base, swizzle.apply(1 << bit)));
            let columns: Columns = offset_of_bit.collect();
            let limit = best.as_ref().map_or(u64::MAX, |(min_wavefronts, _, _)| *min_wavefronts);
            let wavefronts = estimate::weighted(problem, &all, &columns, limit);
            if best.is_none() || wavefronts < limit {
                best = Some((wavefronts, swizzle, columns));
            }
        }
        if best.as_ref().is_some_and(|(min_wavefronts, _, _)| *min_wavefronts <= weigher.goal()) {
            break;
        }
    }
    if let Some((_, swizzle, columns)) = best {
        weigher.weigh(Proposal { functor: Some(swizzle), ..Proposal::new(SharedLayoutKind::Functor, &columns) });
    }
}

/// Returns the swizzles that change only offset bits that select a bank or an element of its word, and not the lowest
/// `kept` bits; those that change the fewest bits come first.
fn swizzles(problem: &SharedLayoutProblem<'_>, kept: u32) -> impl Iterator<Item = Swizzle> + use<> {
    let bits = problem.bits;
    let line = problem.lines().last().copied().unwrap_or(0).min(bits);
    let bases = move |count: u32| (kept..(line + 1).saturating_sub(count)).rev().map(move |base| (count, base));
    let shifts = move |(count, base): (u32, u32)| {
        (count.max(1)..=bits.saturating_sub(base + count))
            .filter_map(move |shift| Swizzle::new(count, base, shift as i32).ok())
    };
    (1..=line).flat_map(bases).flat_map(shifts)
}
