//! `Swizzle<B,M,S>` over the axes in some order (seed 003, section on shared memory): few enough to try
//! all that change how the banks are filled.

use crate::cute::{ComposedLayout, Layout, Swizzle};
use crate::f2::{Columns, multiply};
use crate::layout::Dim;

use super::choice::Kind;
use super::estimate;
use super::question::{Base, Question};
use super::weigh::{Proposal, Weigher};

/// A swizzle over a base.
pub(super) struct Functor {
    swizzle: Swizzle,
    base: Base,
}

/// Weighs the best functor; of equals the first, which changes the fewest bits.
pub(super) fn search(weigher: &mut Weigher<'_>) {
    let question = weigher.question;
    let all: Vec<usize> = (0..question.sides.len()).collect();
    let mut best: Option<(u64, Functor, Columns)> = None;
    for swizzle in swizzles(question) {
        for base in question.bases() {
            // A swizzle undoes itself, so offsets lead back to the base by the same swizzle.
            let places = (0..question.bits).map(|bit| multiply(&base.columns, swizzle.apply(1 << bit)));
            let columns: Columns = places.collect();
            let wavefronts = estimate::weighted(question, &all, &columns);
            if best.as_ref().is_none_or(|(least, _, _)| wavefronts < *least) {
                best = Some((wavefronts, Functor { swizzle, base }, columns));
            }
            if best.as_ref().is_some_and(|(least, _, _)| *least <= weigher.goal()) {
                break;
            }
        }
        if best.as_ref().is_some_and(|(least, _, _)| *least <= weigher.goal()) {
            break;
        }
    }
    if let Some((_, functor, columns)) = best {
        weigher.weigh(Proposal { functor: Some(&functor), ..Proposal::new(Kind::Functor, &columns) });
    }
}

/// Swizzles within the offset that change bits below the widest line of the banks, the fewest bits
/// first.
fn swizzles(question: &Question<'_>) -> impl Iterator<Item = Swizzle> + use<> {
    let bits = question.bits;
    let line = question.lines().last().copied().unwrap_or(0).min(bits);
    let bases = move |count: u32| (0..=line.saturating_sub(count)).rev().map(move |base| (count, base));
    let shifts = move |(count, base): (u32, u32)| {
        (count.max(1)..=bits.saturating_sub(base + count))
            .filter_map(move |shift| Swizzle::new(count, base, shift as i32).ok())
    };
    (1..=line).flat_map(bases).flat_map(shifts)
}

impl Functor {
    /// The layout from coordinates (the first axis first) to offsets; absent where blocks have parts of
    /// the tensor.
    pub(super) fn text(&self, question: &Question<'_>) -> Option<ComposedLayout> {
        if !question.blocks().is_empty() {
            return None;
        }
        let mut axes: Vec<Dim> = question.outs().dims().collect();
        axes.sort_unstable();
        let stride = |dim: Dim| {
            let before = self.base.axes.iter().take_while(|&&axis| axis != dim);
            1u64 << before.map(|&axis| question.outs().bits_of(axis)).sum::<u32>()
        };
        let mode = |&dim: &Dim| match question.outs().bits_of(dim) {
            0 => Layout::of(1, 0),
            bits => Layout::of(1 << bits, stride(dim)),
        };
        let modes = axes.iter().map(mode).collect::<Result<Vec<_>, _>>().ok()?;
        ComposedLayout::new(vec![self.swizzle], 0, Layout::from_modes(modes).ok()?).ok()
    }
}
