//! Candidates for the low offset bits of a layout: the elements that one access moves (the vector) and, if a vector is
//! narrower than a word of a bank, the other elements of this word.

use std::collections::HashSet;

use tilewright_layout::f2::{Columns, Subspace, multiply_vector};

use super::super::tile::{Tile, TiledSide, find_common_segment};
use super::problem::SharedLayoutProblem;

/// All subspaces are tried as vectors (the elements of one access) if log2 of the tensor's number of elements is at
/// most this.
const FEW_FOR_VECTORS: u32 = 8;
const FEW_FOR_WORDS: u32 = 6;
/// Max number of combinations that are tried; a combination has an instruction, or plain accesses, for each accessor.
const MAX_TILE_CHOICES: usize = 256;

/// The search for the low offset bits of a layout. `sides` has the indices of the accessors that the search considers;
/// `fixed` has the elements that the first offset bits must have.
pub(super) struct BankWords<'a> {
    pub(super) problem: &'a SharedLayoutProblem<'a>,
    pub(super) sides: &'a [usize],
    pub(super) fixed: &'a [u64],
    found: Vec<Columns>,
    seen: HashSet<Vec<Subspace>>,
}

impl<'a> BankWords<'a> {
    /// Finds all candidates: the slots of instructions (contiguous memory of one access), then vectors, the widest
    /// first. A vector consists of elements that all accessors have in registers, extended by elements that only some
    /// accessors have, whose accesses then are wider.
    pub(super) fn find_all(problem: &'a SharedLayoutProblem<'a>, sides: &'a [usize], fixed: &'a [u64]) -> Vec<Columns> {
        let mut bank_words = Self { problem, sides, fixed, found: Vec::new(), seen: HashSet::new() };
        bank_words.add_segments();
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

    /// Adds candidates that begin with the slot (contiguous memory of one access) of an instruction of one accessor or
    /// of several.
    fn add_segments(&mut self) {
        let problem = self.problem;
        let mut choices: Vec<Vec<TiledSide<'_>>> = vec![Vec::new()];
        for &at in self.sides {
            let side = &problem.sides[at];
            let kinds = Tile::kinds(&side.tiles, side.direction());
            let pairs = choices.iter().flat_map(|chosen| kinds.iter().map(move |&kind| (chosen, kind)));
            let longer = pairs.map(|(chosen, kind)| [&chosen[..], &[(&side.located, kind)]].concat());
            choices = longer.take(MAX_TILE_CHOICES).collect();
        }
        for low in choices.iter().filter_map(|chosen| find_common_segment(chosen)) {
            if low.starts_with(self.fixed) {
                self.add(&low);
            }
        }
    }

    /// Returns the space of the elements that all accessors in the mask `mask` hold in the registers of one thread.
    fn common(&self, mask: u64) -> Subspace {
        let of = self.sides.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
        let mut spans = of.map(|(_, &side)| self.problem.sides[side].span().clone());
        let first = spans.next().unwrap_or_default();
        spans.fold(first, |all, span| all.intersection(&span))
    }

    /// Returns sets of accessors, as masks, that together may allow wider accesses than all accessors do: all sets if
    /// there are at most four accessors, else sets of one or two.
    fn subsets(&self) -> Vec<u64> {
        let count = self.sides.len().min(16);
        let all = (1u64 << count) - 1;
        let proper = (1..=all).filter(|&mask| mask != all || !self.fixed.is_empty());
        proper.filter(|mask| count <= 4 || mask.count_ones() <= 2).collect()
    }

    /// Returns extensions of the offset bits `low` by `count` independent elements of `space`: all choices if the
    /// problem has few elements, else the first choice.
    fn extensions(&self, space: &Subspace, low: &[u64], count: usize) -> Vec<Columns> {
        let together = |more: &[u64]| -> Option<Columns> {
            let mut taken = Subspace::span(low.iter().copied());
            let free = more.iter().all(|&vector| taken.insert(vector));
            free.then(|| low.iter().chain(more).copied().collect())
        };
        if self.problem.bits <= FEW_FOR_VECTORS && space.dimension() <= 5 {
            let all = subspaces(space.dimension(), count as u32);
            let of = |masks: Vec<u64>| masks.iter().map(|&m| multiply_vector(space.basis(), m)).collect::<Columns>();
            return all.into_iter().filter_map(|masks| together(&of(masks))).collect();
        }
        let mut taken = Subspace::span(low.iter().copied());
        let more: Columns = space.basis().iter().copied().filter(|&v| taken.insert(v)).take(count).collect();
        if more.len() == count { together(&more).into_iter().collect() } else { Vec::new() }
    }

    /// Adds the offset bits `low` as a candidate; if they are narrower than a bank word, adds a candidate for each
    /// completion of the word.
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
            combinations(&self.candidate_vectors(missing == 1), missing)
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

    /// Returns elements that may complete a bank word: those that lane bits and register bits add, then single
    /// coordinate bits. If only one bit is missing (`one_missing`), also the xor of the elements of any two lane bits.
    fn candidate_vectors(&self, one_missing: bool) -> Vec<u64> {
        let sides = || self.sides.iter().map(|&at| &self.problem.sides[at]);
        let lanes: Vec<u64> = sides().flat_map(|side| side.lanes().iter().copied()).collect();
        let registers = sides().flat_map(|side| side.registers().iter().copied());
        let units = (0..self.problem.bits).map(|bit| 1u64 << bit);
        let mut candidate_vectors: Vec<u64> = lanes.iter().copied().chain(registers).chain(units).collect();
        if one_missing {
            candidate_vectors
                .extend(lanes.iter().enumerate().flat_map(|(at, a)| lanes[at + 1..].iter().map(move |b| a ^ b)));
        }
        let mut seen = HashSet::new();
        candidate_vectors.retain(|&vector| vector != 0 && seen.insert(vector));
        candidate_vectors
    }
}

/// Returns every choice of `count` of the vectors `vectors`.
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

/// Returns a basis, in reduced form, of every subspace of F2^`bits` with dimension `dimension`, each subspace once.
pub(super) fn subspaces(bits: u32, dimension: u32) -> Vec<Vec<u64>> {
    if dimension == 0 {
        return vec![Vec::new()];
    }
    if dimension > bits {
        return Vec::new();
    }
    // Subspaces are enumerated by their lowest pivot.
    let mut all = Vec::new();
    for pivot in 0..bits {
        // The first vector has its lowest bit at `pivot`, and any of the higher bits that are no pivots of the other
        // vectors; these lie above `pivot`.
        for rest in subspaces(bits - pivot - 1, dimension - 1) {
            let above: Vec<u64> = rest.iter().map(|vector| vector << (pivot + 1)).collect();
            let pivots = above.iter().fold(0u64, |all, vector| all | (vector & vector.wrapping_neg()));
            let free: Vec<u64> = (pivot + 1..bits).map(|bit| 1u64 << bit).filter(|unit| pivots & unit == 0).collect();
            for choice in 0..1u64 << free.len() {
                let mut basis = vec![1u64 << pivot | multiply_vector(&free, choice)];
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

    /// Checks that the number of subspaces is the Gaussian binomial coefficient and that all are distinct.
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
