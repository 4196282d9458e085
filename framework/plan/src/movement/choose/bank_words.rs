//! The low offset bits of a layout: the vectors that accessors take at once, and, where a vector is
//! narrower than a bank, what else is in the bank's word.

use std::collections::HashSet;

use tilewright_layout::f2::{Columns, Subspace, multiply};

use super::super::tile::{Tile, Way, slot};
use super::problem::Question;

/// Log2 of the elements up to which all subspaces are tried as vectors, and as words.
const FEW_FOR_VECTORS: u32 = 8;
const FEW_FOR_WORDS: u32 = 6;
/// Choices of rows for all accessors that are tried at most.
const MOST_WAYS: usize = 256;

/// Which accessors a search regards, and with which elements memory begins whatever else.
pub(super) struct BankWords<'a> {
    pub(super) problem: &'a Question<'a>,
    pub(super) sides: &'a [usize],
    pub(super) fixed: &'a [u64],
    found: Vec<Columns>,
    seen: HashSet<Vec<Subspace>>,
}

impl<'a> BankWords<'a> {
    /// The low bits that are worth trying: the slots of rows of the instruction table, then vectors, the
    /// widest first: what all accessors have in registers, then what some have, who can go wider.
    pub(super) fn all(problem: &'a Question<'a>, sides: &'a [usize], fixed: &'a [u64]) -> Vec<Columns> {
        let mut bank_words = Self { problem, sides, fixed, found: Vec::new(), seen: HashSet::new() };
        bank_words.add_slots();
        let widest = problem.widest() as usize;
        let common = bank_words.common((1 << sides.len()) - 1);
        let vectors = if fixed.is_empty() { widest.min(common.dimension() as usize) } else { 0 };
        for vector_bits in (0..=vectors).rev() {
            for vector in bank_words.extensions(&common, fixed, vector_bits) {
                bank_words.add(&vector);
                for some in bank_words.subsets() {
                    let space = bank_words.common(some);
                    for more in 1..=widest.saturating_sub(vector.len()) {
                        for wider in bank_words.extensions(&space, &vector, more) {
                            bank_words.add(&wider);
                        }
                    }
                }
            }
        }
        bank_words.found
    }

    /// Keeps the slots of rows by which one side or several of them can go.
    fn add_slots(&mut self) {
        let problem = self.problem;
        let mut ways: Vec<Vec<Way<'_>>> = vec![Vec::new()];
        for &at in self.sides {
            let side = &problem.sides[at];
            let kinds = Tile::kinds(&side.tiles, side.direction());
            let pairs = ways.iter().flat_map(|way| kinds.iter().map(move |&kind| (way, kind)));
            let longer = pairs.map(|(way, kind)| [&way[..], &[(&side.located, kind)]].concat());
            ways = longer.take(MOST_WAYS).collect();
        }
        for low in ways.iter().filter_map(|way| slot(way)) {
            if low.starts_with(self.fixed) {
                self.add(&low);
            }
        }
    }

    /// What the registers of all of these sides hold, as a mask of the sides regarded.
    fn common(&self, mask: u64) -> Subspace {
        let of = self.sides.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
        let mut spans = of.map(|(_, &side)| self.problem.sides[side].span().clone());
        let first = spans.next().unwrap_or_default();
        spans.fold(first, |all, span| all.intersection(&span))
    }

    /// Sides that could go wider together than all do: any of a few, one or two of many.
    fn subsets(&self) -> Vec<u64> {
        let count = self.sides.len().min(16);
        let all = (1u64 << count) - 1;
        let proper = (1..=all).filter(|&mask| mask != all || !self.fixed.is_empty());
        proper.filter(|mask| count <= 4 || mask.count_ones() <= 2).collect()
    }

    /// `low` with `count` vectors of `space` more: all ways where there are few elements, else the first.
    fn extensions(&self, space: &Subspace, low: &[u64], count: usize) -> Vec<Columns> {
        let together = |more: &[u64]| -> Option<Columns> {
            let mut taken = Subspace::span(low.iter().copied());
            let free = more.iter().all(|&vector| taken.insert(vector));
            free.then(|| low.iter().chain(more).copied().collect())
        };
        if self.problem.bits <= FEW_FOR_VECTORS && space.dimension() <= 5 {
            let all = subspaces(space.dimension(), count as u32);
            let of = |masks: Vec<u64>| masks.iter().map(|&m| multiply(space.basis(), m)).collect::<Columns>();
            return all.into_iter().filter_map(|masks| together(&of(masks))).collect();
        }
        let mut taken = Subspace::span(low.iter().copied());
        let more: Columns = space.basis().iter().copied().filter(|&v| taken.insert(v)).take(count).collect();
        if more.len() == count { together(&more).into_iter().collect() } else { Vec::new() }
    }

    /// Keeps low bits, with all that may fill the word where they leave some of it.
    fn add(&mut self, low: &[u64]) {
        let missing = (self.problem.word() as usize).saturating_sub(low.len());
        let left = (self.problem.bits as usize).saturating_sub(low.len());
        if missing == 0 || left == 0 {
            self.keep(low.into());
            return;
        }
        let bits = self.problem.bits;
        let missing = missing.min(left);
        let fills: Vec<Columns> = if bits <= FEW_FOR_WORDS {
            subspaces(bits, missing as u32).into_iter().map(Columns::from_vec).collect()
        } else {
            combinations(&self.pool(missing == 1), missing)
        };
        for fill in fills {
            let mut taken = Subspace::span(low.iter().copied());
            if fill.iter().all(|&vector| taken.insert(vector)) {
                self.keep(low.iter().chain(&fill).copied().collect());
            }
        }
    }

    fn keep(&mut self, low: Columns) {
        let prefixes = (1..=low.len()).map(|length| Subspace::span(low[..length].iter().copied()));
        if self.seen.insert(prefixes.collect()) {
            self.found.push(low);
        }
    }

    /// Vectors that may share a word: what lanes and registers move by, then single bits; where there is
    /// room, sums of two lanes of different accessors.
    fn pool(&self, accumulator: bool) -> Vec<u64> {
        let sides = || self.sides.iter().map(|&at| &self.problem.sides[at]);
        let lanes: Vec<u64> = sides().flat_map(|side| side.lanes().iter().copied()).collect();
        let registers = sides().flat_map(|side| side.registers().iter().copied());
        let units = (0..self.problem.bits).map(|bit| 1u64 << bit);
        let mut pool: Vec<u64> = lanes.iter().copied().chain(registers).chain(units).collect();
        if accumulator {
            pool.extend(lanes.iter().enumerate().flat_map(|(at, a)| lanes[at + 1..].iter().map(move |b| a ^ b)));
        }
        let mut seen = HashSet::new();
        pool.retain(|&vector| vector != 0 && seen.insert(vector));
        pool
    }
}

/// Every choice of `count` of the vectors.
fn combinations(vectors: &[u64], count: usize) -> Vec<Columns> {
    if count == 0 {
        return vec![Columns::new()];
    }
    let led_by = |at: usize| {
        let rest = combinations(&vectors[at + 1..], count - 1);
        rest.into_iter().map(move |rest| std::iter::once(vectors[at]).chain(rest).collect::<Columns>())
    };
    (0..vectors.len()).flat_map(led_by).collect()
}

/// A basis of every subspace of F2^`bits` of dimension `dimension`, in reduced form: each once.
pub(super) fn subspaces(bits: u32, dimension: u32) -> Vec<Vec<u64>> {
    if dimension == 0 {
        return vec![Vec::new()];
    }
    if dimension > bits {
        return Vec::new();
    }
    // Spaces without the highest bit; and those with it, whose vector with that bit is any, the others
    // leaving out its pivot.
    let mut all = Vec::new();
    for pivot in 0..bits {
        // The lowest pivot is `pivot`: the others live above it, and the first has any of their free bits.
        for rest in subspaces(bits - pivot - 1, dimension - 1) {
            let above: Vec<u64> = rest.iter().map(|vector| vector << (pivot + 1)).collect();
            let pivots = above.iter().fold(0u64, |all, vector| all | (vector & vector.wrapping_neg()));
            let free: Vec<u64> = (pivot + 1..bits).map(|bit| 1u64 << bit).filter(|unit| pivots & unit == 0).collect();
            for choice in 0..1u64 << free.len() {
                let mut basis = vec![1u64 << pivot | multiply(&free, choice)];
                basis.extend(&above);
                all.push(basis);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of subspaces is the Gaussian binomial coefficient, and no space comes twice.
    #[test]
    fn every_subspace_comes_once() {
        for (bits, counts) in [(4, vec![1, 15, 35, 15, 1]), (5, vec![1, 31, 155, 155, 31, 1])] {
            for (dimension, count) in counts.into_iter().enumerate() {
                let all = subspaces(bits, dimension as u32);
                let spaces: HashSet<Subspace> = all.iter().map(|basis| Subspace::span(basis.clone())).collect();
                assert_eq!((all.len(), spaces.len()), (count, count), "{dimension} of {bits}");
                assert!(spaces.iter().all(|space| space.dimension() == dimension as u32));
            }
        }
    }
}
