//! Search of linear layouts. It starts from low offset bits (`bank_words`) and segments (offset bits above the banks)
//! that theory proposes, descends by elementary column operations, and then restarts deterministically until the budget
//! is spent.

use tilewright_layout::f2::Columns;

use super::bank_words::BankWords;
use super::choice::SharedLayoutKind;
use super::problem::SharedLayoutProblem;
use super::random::Random;
use super::weigh::{Proposal, Weigher};
use super::{estimate, segments};

/// Number of best layouts that the search keeps.
const KEPT: usize = 8;

/// Constraints and limits of a search.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// The elements of the first offset bits, in order, which the search does not change.
    pub(super) fixed: &'a [u64],
    /// A basis of the elements (packed coordinates) that the lowest offset bits must span, in any order; empty for no
    /// constraint.
    pub(super) chunk: &'a [u64],
    /// Number of weighted wavefronts at which the search stops, because no layout can be better.
    pub(super) goal: u64,
    /// Max number of layouts that are compared.
    pub(super) budget: u64,
}

/// The state of a search of linear layouts for some of the accessors.
pub(super) struct Search<'a> {
    problem: &'a SharedLayoutProblem<'a>,
    sides: &'a [usize],
    bounds: Bounds<'a>,
    /// The number of layouts that may still be compared.
    budget: u64,
    /// The best layouts, the best first: their weighted wavefronts, and the element of each offset bit.
    best: Vec<(u64, Columns)>,
}

/// Searches linear layouts for all accessors and weighs the best. The first offset bits have the elements `fixed`, in
/// order; the elements `chunk` are at the first offset bits too, in any order.
pub(super) fn search(weigher: &mut Weigher<'_>, fixed: &[u64], chunk: &[u64]) {
    let sides: Vec<usize> = (0..weigher.problem.sides.len()).collect();
    let bounds = Bounds { fixed, chunk, goal: weigher.goal(), budget: weigher.constraints.budget };
    let found = Search::run(weigher.problem, &sides, bounds);
    for (_, columns) in &found {
        weigher.weigh(Proposal::new(SharedLayoutKind::Swizzle, columns));
    }
}

impl<'a> Search<'a> {
    /// Searches layouts for the accessors with the indices `sides`. Returns the best ones, the best first: weighted
    /// wavefronts, and the element of each offset bit.
    pub(super) fn run(
        problem: &'a SharedLayoutProblem<'a>,
        sides: &'a [usize],
        bounds: Bounds<'a>,
    ) -> Vec<(u64, Columns)> {
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
        self.budget == 0 || self.best.first().is_some_and(|(min_wavefronts, _)| *min_wavefronts <= self.bounds.goal)
    }

    /// Returns the weighted wavefronts of a layout, or a number that is not below `limit` if they are not.
    fn price(&mut self, columns: &[u64], limit: u64) -> u64 {
        self.budget = self.budget.saturating_sub(1);
        estimate::weighted(self.problem, self.sides, columns, limit)
    }

    fn keep(&mut self, price: u64, columns: Columns) {
        let known = self.best.iter().any(|(_, known)| *known == columns);
        if !known && (self.best.len() < KEPT || self.best.last().is_some_and(|(most, _)| price < *most)) {
            let at = self.best.partition_point(|(min_wavefronts, _)| *min_wavefronts <= price);
            self.best.insert(at, (price, columns));
            self.best.truncate(KEPT);
        }
    }

    fn begin_by_theory(&mut self) {
        self.complete(self.sides);
    }

    /// Adds start layouts that are good for two of the accessors, for each pair, since they may be good for all
    /// accessors.
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
        for low in BankWords::find_all(problem, sides, self.bounds.fixed) {
            for columns in segments::complete_columns(problem, sides, &low, self.bounds.chunk) {
                if self.is_done() {
                    return;
                }
                let price = self.price(&columns, u64::MAX);
                self.keep(price, columns);
            }
        }
    }

    /// Descends from a layout of this price (weighted wavefronts): applies the first column operation that lowers the
    /// price, until none does.
    fn descend(&mut self, (mut price, mut columns): (u64, Columns)) {
        let mut unchanged = 0;
        let operations = self.operations(columns.len());
        for &operation in operations.iter().cycle() {
            if self.is_done() || unchanged >= operations.len() {
                break;
            }
            let next = apply_operation(&columns, operation);
            let after = self.price(&next, price);
            unchanged += 1;
            if after < price {
                (price, columns, unchanged) = (after, next, 0);
            }
        }
        self.keep(price, columns);
    }

    /// Returns the column operations that respect the constraints: `(a, b, true)` swaps the elements of offset bits `a`
    /// and `b`; `(a, b, false)` adds (over F2) the element of `b` to the element of `a`.
    fn operations(&self, bits: usize) -> Vec<(usize, usize, bool)> {
        let (fixed, chunk) = (self.bounds.fixed.len(), self.bounds.chunk.len());
        let all = (fixed..bits).flat_map(|a| (0..bits).flat_map(move |b| [(a, b, true), (a, b, false)]));
        let fits = |&(a, b, swaps): &(usize, usize, bool)| match swaps {
            true => a < b && (a >= chunk || b < chunk),
            false => a != b && (a >= chunk || b < chunk),
        };
        all.filter(fits).collect()
    }

    /// Descends from random neighbours of the best layouts, one after the other, until the goal is reached or the
    /// budget spent.
    fn restart(&mut self) {
        let operations = self.operations(self.problem.bits as usize);
        if operations.is_empty() || self.best.is_empty() {
            return;
        }
        let mut random = Random::new();
        for round in 0.. {
            if self.is_done() {
                return;
            }
            let mut columns = self.best[round % self.best.len()].1.clone();
            for _ in 0..3 + round % 4 {
                columns = apply_operation(&columns, operations[random.below(operations.len())]);
            }
            let price = self.price(&columns, u64::MAX);
            self.descend((price, columns));
        }
    }
}

/// Returns the columns after one operation: columns `a` and `b` are swapped if `swaps`, otherwise `b` is added (over
/// F2) to `a`.
fn apply_operation(columns: &[u64], (a, b, swaps): (usize, usize, bool)) -> Columns {
    let mut columns: Columns = columns.into();
    if swaps {
        columns.swap(a, b);
    } else {
        columns[a] ^= columns[b];
    }
    columns
}
