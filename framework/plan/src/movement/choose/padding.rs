//! Search of padding: one or two paddings, each between equal intervals of elements, with the fewest bytes for the
//! required wavefronts (Triton Bespoke Layouts).
//!
//! Paddings are tried in the order of their bytes, so the first that reaches the required wavefronts takes the fewest.
//! A count of one access of each accessor rejects most of them.

use tilewright_layout::Padding;
use tilewright_layout::f2::{Columns, Solver, multiply_vector};
use tilewright_target::count_access_wavefronts;

use super::super::tile::{self, Memory};
use super::choice::SharedLayoutKind;
use super::estimate::Located;
use super::lower_bound;
use super::problem::SharedLayoutProblem;
use super::side::Side;
use super::weigh::{Proposal, Weigher};

/// If all banks deliver at most this many elements at once (a row of the banks), every padding is tried. For longer
/// rows only the sizes 1, 3, 5 and 7 times a power of two are tried.
const SHORT_LINE: u64 = 32;
const ODD: [u64; 4] = [1, 3, 5, 7];

/// One or two paddings, in the order of their intervals, and the number of elements that they add to the memory.
#[derive(Clone)]
struct Gaps {
    padding: Vec<Padding>,
    added: u64,
}

/// Weighs the plain layouts of `bases` with one padding and with two paddings, each between intervals of at least
/// 2^`lowest` elements.
pub(super) fn search(weigher: &mut Weigher<'_>, bases: &[Columns], lowest: u32) {
    let problem = weigher.problem;
    let bases: Vec<Placed<'_>> = bases.iter().map(|base| Placed::new(problem, base)).collect();
    let elements = 1u64 << problem.bits;
    let most = weigher.most_bytes / problem.element_bytes();
    let singles = singles(problem, lowest);
    let mut budget = weigher.constraints.budget;
    let fits = |gaps: &Gaps| elements.saturating_add(gaps.added) <= most;
    let mut first: Vec<Gaps> = singles.iter().filter(|&gaps| fits(gaps)).cloned().collect();
    first.sort_by_key(|gaps| gaps.added);
    try_all(weigher, &bases, &first, &mut budget);
    // Two paddings are useless if they take more bytes than a single padding that reaches the goal.
    let reached = weigher.best(SharedLayoutKind::Padding).filter(|best| best.clipped <= weigher.price_goal());
    let limit = reached.map_or(u64::MAX, |best| best.bytes / problem.element_bytes());
    let pairs = singles.iter().flat_map(|a| singles.iter().map(move |b| (a, b)));
    let pairs = pairs.filter(|(a, b)| a.padding[0].interval < b.padding[0].interval);
    let mut second: Vec<Gaps> = pairs
        .map(|(a, b)| Gaps { padding: vec![a.padding[0], b.padding[0]], added: a.added + b.added })
        .filter(|gaps| fits(gaps) && elements + gaps.added < limit)
        .collect();
    second.sort_by_key(|gaps| gaps.added);
    try_all(weigher, &bases, &second, &mut budget);
}

/// Weighs each of the paddings `all`, in order, with each layout of `bases` if it could beat the best layout so far.
/// Ends when no later padding can, or `budget` is spent.
fn try_all(weigher: &mut Weigher<'_>, bases: &[Placed<'_>], all: &[Gaps], budget: &mut u64) {
    let (goal, problem) = (weigher.price_goal(), weigher.problem);
    // Planning a layout costs as much budget as rejecting `planned` layouts: a plan lists the addresses of all elements
    // of all accessors, a rejection those of one warp.
    let planned = ((problem.sides.len() as u64) << problem.bits) / 512;
    for gaps in all {
        let bytes = ((1u64 << problem.bits) + gaps.added) * problem.element_bytes();
        for base in bases {
            let known =
                weigher.best(SharedLayoutKind::Padding).map_or((u64::MAX, u64::MAX), |best| (best.clipped, best.bytes));
            if *budget == 0 || (goal, bytes) >= known {
                return;
            }
            *budget -= 1;
            if (problem.price(base.at_least(problem, &gaps.padding)).max(goal), bytes) < known {
                *budget = budget.saturating_sub(planned);
                let proposal = Proposal::new(SharedLayoutKind::Padding, base.columns);
                weigher.weigh(Proposal { padding: &gaps.padding, ..proposal });
            }
        }
    }
}

/// Returns all single paddings up to the size of a row of the banks (the elements that all banks deliver at once),
/// between intervals of at least 2^`lowest` elements.
fn singles(problem: &SharedLayoutProblem<'_>, lowest: u32) -> Vec<Gaps> {
    let line = 1u64 << problem.lines().last().copied().unwrap_or(0);
    let sizes: Vec<u64> = match line <= SHORT_LINE {
        true => (1..=line).collect(),
        false => {
            let mut sizes: Vec<u64> = ODD
                .iter()
                .flat_map(|odd| (0..=line.ilog2()).map(move |bit| odd << bit))
                .filter(|&size| size <= line)
                .collect();
            sizes.sort_unstable();
            sizes
        }
    };
    let of = |bit: u32| {
        let gaps = (1u64 << (problem.bits - bit)) - 1;
        sizes
            .iter()
            .map(move |&padding| Gaps { padding: vec![Padding { interval: 1 << bit, padding }], added: gaps * padding })
    };
    (lowest..problem.bits).flat_map(of).collect()
}

/// A layout without padding (the element of each offset bit), with the offsets of each accessor in it.
struct Placed<'a> {
    columns: &'a [u64],
    sides: Vec<Located>,
}

impl<'a> Placed<'a> {
    fn new(problem: &SharedLayoutProblem<'_>, columns: &'a Columns) -> Self {
        let memory = Solver::new(columns);
        Self { columns, sides: problem.sides.iter().map(|side| Located::new(side, &memory)).collect() }
    }

    /// Returns a lower bound of the weighted wavefronts of all accessors with this padding: the first access of the
    /// first warp is counted exactly, every other access as one wavefront for each phase.
    fn at_least(&self, problem: &SharedLayoutProblem<'_>, padding: &[Padding]) -> u64 {
        let of = |(side, located): (&Side<'_>, &Located)| {
            let widths = (0..=located.widest.min(problem.widest())).filter(|&width| keeps_vectors(padding, width));
            let taken = widths.filter_map(|width| {
                let clear = lower_bound::at_width(problem, side, width)?;
                let first = first_access(problem, side, located, padding, width)?;
                Some(with_first(clear, side.accesses(width)?, first))
            });
            taken.chain(self.by_rows(problem, side, padding)).min().unwrap_or(u64::MAX).saturating_mul(side.weight)
        };
        problem.sides.iter().zip(&self.sides).map(of).fold(0, u64::saturating_add)
    }

    /// Returns a lower bound of one accessor's wavefronts with this padding, by instructions of the table; `None` if no
    /// instruction fits.
    fn by_rows(&self, problem: &SharedLayoutProblem<'_>, side: &Side<'_>, padding: &[Padding]) -> Option<u64> {
        if side.tiles.is_empty() {
            return None;
        }
        let memory = Memory::new(self.columns, padding);
        let placed = tile::PlacedAccessor::new(&side.located, &memory, problem.target);
        let taken = side.tiles.iter().filter_map(|tile| {
            let first = placed.best_with_words(tile)?.each;
            let accesses = side.accesses(tile.width(&side.located)?)?;
            Some(with_first(lower_bound::by_row(problem, side, tile)?, accesses, first))
        });
        taken.min()
    }
}

/// Returns a lower bound of the wavefronts of 2^`accesses` accesses, which without conflicts take `clear` wavefronts
/// together, if the first access takes `first` wavefronts.
fn with_first(clear: u64, accesses: u32, first: u64) -> u64 {
    clear - (clear >> accesses) + first
}

/// Whether no padding falls within the 2^`width` elements that one access moves.
fn keeps_vectors(padding: &[Padding], width: u32) -> bool {
    width == 0 || padding.iter().all(|p| p.interval >> width != 0 && p.padding.is_multiple_of(1 << width))
}

fn first_access(
    problem: &SharedLayoutProblem<'_>,
    side: &Side<'_>,
    located: &Located,
    padding: &[Padding],
    width: u32,
) -> Option<u64> {
    let row = problem.row(side, width)?;
    let bytes = problem.element_bytes();
    let address = |lane: u64| {
        let offset = multiply_vector(&located.lanes, lane);
        let gaps: u64 = padding.iter().map(|p| offset / p.interval * p.padding).sum();
        (lane & side.idle_lanes() == 0).then_some((offset + gaps) * bytes)
    };
    let addresses: Vec<Option<u64>> = (0..1u64 << located.lanes.len()).map(address).collect();
    Some(count_access_wavefronts(row, &addresses, (bytes as u32) << width))
}
