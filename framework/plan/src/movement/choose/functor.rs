//! `Swizzle<B,M,S>` over the axes in some order (seed 003, section on shared memory): few enough to try
//! all that change how the banks are filled.

use tilewright_layout::cute::Swizzle;
use tilewright_layout::f2::{Columns, multiply};

use super::choice::Kind;
use super::estimate;
use super::problem::Question;
use super::weigh::{Proposal, Weigher};

/// Weighs the best functor over one of these layouts that keeps the lowest bits; of equals the first, which changes the
/// fewest bits.
pub(super) fn search(weigher: &mut Weigher<'_>, bases: &[Columns], kept: u32) {
    let problem = weigher.problem;
    let all: Vec<usize> = (0..problem.sides.len()).collect();
    let mut best: Option<(u64, Swizzle, Columns)> = None;
    for swizzle in swizzles(problem, kept) {
        for base in bases {
            // A swizzle undoes itself, so offsets lead back to the base by the same swizzle.
            let places = (0..problem.bits).map(|bit| multiply(base, swizzle.apply(1 << bit)));
            let columns: Columns = places.collect();
            let wavefronts = estimate::weighted(problem, &all, &columns);
            if best.as_ref().is_none_or(|(least, _, _)| wavefronts < *least) {
                best = Some((wavefronts, swizzle, columns));
            }
        }
        if best.as_ref().is_some_and(|(least, _, _)| *least <= weigher.goal()) {
            break;
        }
    }
    if let Some((_, swizzle, columns)) = best {
        weigher.weigh(Proposal { functor: Some(swizzle), ..Proposal::new(Kind::Functor, &columns) });
    }
}

/// Swizzles within the offset that change bits below the widest line of the banks, the fewest bits
/// first.
fn swizzles(problem: &Question<'_>, kept: u32) -> impl Iterator<Item = Swizzle> + use<> {
    let bits = problem.bits;
    let line = problem.lines().last().copied().unwrap_or(0).min(bits);
    let bases = move |count: u32| (kept..(line + 1).saturating_sub(count)).rev().map(move |base| (count, base));
    let shifts = move |(count, base): (u32, u32)| {
        (count.max(1)..=bits.saturating_sub(base + count))
            .filter_map(move |shift| Swizzle::new(count, base, shift as i32).ok())
    };
    (1..=line).flat_map(bases).flat_map(shifts)
}
