//! The search of linear layouts: low bits and segments from the theory, then descent by elementary
//! column operations, then restarts, always the same, until the budget is spent.

use tilewright_layout::f2::Columns;

use super::bank_words::BankWords;
use super::choice::Kind;
use super::problem::Question;
use super::random::Random;
use super::weigh::{Proposal, Weigher};
use super::{estimate, segments};

/// How many layouts are kept.
const KEPT: usize = 8;

/// What a search keeps to.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// The elements with which memory begins.
    pub(super) fixed: &'a [u64],
    /// What the first offset bits span; anything where empty.
    pub(super) chunk: &'a [u64],
    /// Weighted wavefronts that are enough.
    pub(super) goal: u64,
    /// How many layouts are looked at.
    pub(super) budget: u64,
}

/// A search for some accessors.
pub(super) struct Search<'a> {
    problem: &'a Question<'a>,
    sides: &'a [usize],
    bounds: Bounds<'a>,
    /// What is left of it.
    budget: u64,
    /// The best layouts, the best first, with their weighted wavefronts.
    best: Vec<(u64, Columns)>,
}

/// Weighs the best linear layout for all accessors that begins with `fixed`, and whose first elements are those of `chunk`.
pub(super) fn search(weigher: &mut Weigher<'_>, fixed: &[u64], chunk: &[u64]) {
    let sides: Vec<usize> = (0..weigher.problem.sides.len()).collect();
    let bounds = Bounds { fixed, chunk, goal: weigher.goal(), budget: weigher.constraints.budget };
    let found = Search::run(weigher.problem, &sides, bounds);
    for (_, columns) in &found {
        weigher.weigh(Proposal::new(Kind::Swizzle, columns));
    }
}

impl<'a> Search<'a> {
    /// The best layouts for the given sides, the best first.
    pub(super) fn run(problem: &'a Question<'a>, sides: &'a [usize], bounds: Bounds<'a>) -> Vec<(u64, Columns)> {
        let mut search = Self { problem, sides, bounds, budget: bounds.budget, best: Vec::new() };
        search.begin_by_theory();
        search.begin_by_pairs();
        for start in search.best.clone() {
            search.descend(start);
        }
        search.restart();
        search.best
    }

    fn is_done(&self) -> bool {
        self.budget == 0 || self.best.first().is_some_and(|(least, _)| *least <= self.bounds.goal)
    }

    fn price(&mut self, columns: &[u64]) -> u64 {
        self.budget = self.budget.saturating_sub(1);
        estimate::weighted(self.problem, self.sides, columns)
    }

    fn keep(&mut self, price: u64, columns: Columns) {
        let known = self.best.iter().any(|(_, known)| *known == columns);
        if !known && (self.best.len() < KEPT || self.best.last().is_some_and(|(most, _)| price < *most)) {
            let at = self.best.partition_point(|(least, _)| *least <= price);
            self.best.insert(at, (price, columns));
            self.best.truncate(KEPT);
        }
    }

    fn begin_by_theory(&mut self) {
        self.complete(self.sides);
    }

    /// What is best for two of several accessors may be good for all.
    fn begin_by_pairs(&mut self) {
        if self.sides.len() < 3 {
            return;
        }
        for (at, &first) in self.sides.iter().enumerate() {
            for &second in &self.sides[at + 1..] {
                self.complete(&[first, second]);
            }
        }
    }

    fn complete(&mut self, sides: &[usize]) {
        let problem = self.problem;
        for low in BankWords::all(problem, sides, self.bounds.fixed) {
            for columns in segments::completed(problem, sides, &low, self.bounds.chunk) {
                if self.is_done() {
                    return;
                }
                let price = self.price(&columns);
                self.keep(price, columns);
            }
        }
    }

    /// Takes the first column operation that helps, until none does.
    fn descend(&mut self, (mut price, mut columns): (u64, Columns)) {
        let mut unchanged = 0;
        let operations = self.operations(columns.len());
        for &operation in operations.iter().cycle() {
            if self.is_done() || unchanged >= operations.len() {
                break;
            }
            let next = operated(&columns, operation);
            let after = self.price(&next);
            unchanged += 1;
            if after < price {
                (price, columns, unchanged) = (after, next, 0);
            }
        }
        self.keep(price, columns);
    }

    /// The column operations that keep to the bounds.
    fn operations(&self, bits: usize) -> Vec<(usize, usize, bool)> {
        let (fixed, chunk) = (self.bounds.fixed.len(), self.bounds.chunk.len());
        let all = (fixed..bits).flat_map(|a| (0..bits).flat_map(move |b| [(a, b, true), (a, b, false)]));
        let fits = |&(a, b, swaps): &(usize, usize, bool)| match swaps {
            true => a < b && (a >= chunk || b < chunk),
            false => a != b && (a >= chunk || b < chunk),
        };
        all.filter(fits).collect()
    }

    /// Descends from some operations off the best layouts, in turn.
    fn restart(&mut self) {
        let operations = self.operations(self.problem.bits as usize);
        if operations.is_empty() || self.best.is_empty() {
            return;
        }
        let mut random = Random::new();
        for turn in 0.. {
            if self.is_done() {
                return;
            }
            let mut columns = self.best[turn % self.best.len()].1.clone();
            for _ in 0..3 + turn % 4 {
                columns = operated(&columns, operations[random.below(operations.len())]);
            }
            let price = self.price(&columns);
            self.descend((price, columns));
        }
    }
}

/// Column `a` with column `b` added, or the two exchanged.
fn operated(columns: &[u64], (a, b, swaps): (usize, usize, bool)) -> Columns {
    let mut columns: Columns = columns.into();
    if swaps {
        columns.swap(a, b);
    } else {
        columns[a] ^= columns[b];
    }
    columns
}
