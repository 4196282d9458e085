//! High offset bits of a layout (segments), which lie above the bits that select a bank. Their span should intersect
//! the elements of the lanes of each accessor as little as possible, because lanes that differ only in a segment have
//! bank conflicts. For two accessors a theorem gives the best span; for more accessors the segments are chosen
//! greedily, one at a time.

use tilewright_layout::f2::{Columns, Subspace};
use tilewright_target::BankTableEntry;

use super::super::tile::Tile;
use super::problem::SharedLayoutProblem;
use super::random::Random;
use super::side::Side;
use super::{lower_bound, swizzle};

/// Log2 of the max number of elements for which every vector is tried as a segment (a high offset bit, above the
/// banks).
const FEW: u32 = 8;

/// The state of one accessor (a store or load of the tensor) while segments are chosen.
struct Seen {
    /// The span of the elements of one access, of its bank word and of the lanes of a phase, and of the segments
    /// (offset bits above the banks) chosen so far.
    space: Subspace,
    /// Weighted wavefronts of all accesses of the accessor; each segment (offset bit above the banks) within `space`
    /// doubles them.
    cost: u64,
    /// Index of the first offset bit above those that select a bank for the accessor.
    line: usize,
}

/// Completes the low offset bits `low` by bank bits and segments (offset bits above the banks) for the accessors with
/// these indices. Returns one or two complete layouts, each as the element of each offset bit. The first offset bits
/// span `chunk` if that is not empty.
pub(super) fn complete_columns(
    problem: &SharedLayoutProblem<'_>,
    sides: &[usize],
    low: &[u64],
    chunk: &[u64],
) -> Vec<Columns> {
    let mut seen = sides.iter().filter_map(|&at| seen(problem, at, low)).collect::<Vec<_>>();
    let mut all = Vec::new();
    if let (Some((writer, first)), Some((reader, last))) = (seen.first(), seen.last())
        && sides.len() <= 2
        && chunk.is_empty()
    {
        let phase = |lanes, side: &Seen| swizzle::Phase { lanes, bank_bits: (side.line - low.len()) as u32 };
        let swizzle = swizzle::choose(phase(writer, first), phase(reader, last), low, &[], problem.bits);
        all.push(swizzle.columns.into_iter().collect());
    }
    if sides.len() > 2 || !chunk.is_empty() || seen.iter().any(|(_, side)| side.line != seen[0].1.line) {
        let chunk = if chunk.is_empty() { low } else { chunk };
        all.push(one_by_one(problem, low, chunk, seen.iter_mut().map(|(_, side)| side).collect()));
    }
    all
}

/// Returns, for the accessor with index `at`, the elements that the lane bits of one phase add, and its state. Both are
/// those of the accesses that the offset bits `low` allow; `None` if they allow none.
fn seen(problem: &SharedLayoutProblem<'_>, at: usize, low: &[u64]) -> Option<(Columns, Seen)> {
    let side = &problem.sides[at];
    seen_by_rows(problem, side, low).or_else(|| seen_plainly(problem, side, low))
}

/// As [`seen`], for an accessor that uses plain accesses: the widest that `low` allows.
fn seen_plainly(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, low: &[u64]) -> Option<(Columns, Seen)> {
    let in_lane = low.iter().take_while(|&&column| side.span().contains(column)).count() as u32;
    let (width, row) = (0..=in_lane).rev().find_map(|width| Some((width, problem.row(side, width)?)))?;
    let phase = side.phase(row);
    let space = Subspace::span(low.iter().chain(&phase).copied());
    let phases = side.active().dimension() - side.phase_lanes(row).dimension();
    let cost = side.weight.saturating_mul(1 << (side.accesses(width)? + phases));
    Some((phase, Seen { space, cost, line: line(problem, row, low) }))
}

/// As [`seen`], for an accessor that uses an instruction of the table: the cheapest of those whose slot (contiguous
/// memory of one access) `low` begins with.
fn seen_by_rows(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, low: &[u64]) -> Option<(Columns, Seen)> {
    let of = |tile: &Tile<'_>| {
        let required = tile.vector(&side.located).filter(|required| required.len() <= low.len())?;
        let own =
            |(required, column): (Option<u64>, &u64)| required.map_or(side.span().contains(*column), |w| w == *column);
        let vector = &low[..required.len()];
        let row = tile.bank_row(problem.target).filter(|_| required.into_iter().zip(vector).all(own))?;
        let phase = tile.phase(&side.located, vector, problem.target)?.lanes;
        let space = Subspace::span(low.iter().chain(&phase).copied());
        let cost = side.weight.saturating_mul(lower_bound::by_row(problem, side, tile)?);
        Some((phase, Seen { space, cost, line: line(problem, row, low) }))
    };
    side.tiles.iter().filter_map(of).min_by_key(|(_, seen)| seen.cost)
}

/// Returns the index of the first offset bit above the bits that select a bank of `row`; `low` are the elements of the
/// offset bits below the banks.
fn line(problem: &SharedLayoutProblem<'_>, row: &BankTableEntry, low: &[u64]) -> usize {
    let line = (row.wavefront_bytes() / problem.element_bytes()).max(1).ilog2() as usize;
    line.max(low.len()).min(problem.bits as usize)
}

/// Chooses segments from the highest offset bit down, each the cheapest vector. An offset bit below an accessor's
/// `line` selects a bank for it and costs nothing. The offset bits of the chunk, which contains `low`, stay lowest.
fn one_by_one(problem: &SharedLayoutProblem<'_>, low: &[u64], chunk: &[u64], mut seen: Vec<&mut Seen>) -> Columns {
    let bits = problem.bits as usize;
    let lowest = seen.iter().map(|side| side.line).min().unwrap_or(bits);
    let candidates = vectors(problem.bits);
    let inside = Subspace::span(chunk.iter().copied());
    let mut outside = inside.clone();
    let mut taken = Subspace::span(low.iter().copied());
    let mut segments = Columns::new();
    for bit_index in (lowest..bits).rev() {
        let fits = |vector: u64| match bit_index >= chunk.len() {
            true => !outside.contains(vector),
            false => inside.contains(vector) && !taken.contains(vector),
        };
        let cost = |vector: u64| {
            let hit = seen.iter().filter(|side| bit_index >= side.line && side.space.contains(vector));
            hit.map(|side| side.cost).fold(0, u64::saturating_add)
        };
        let free = candidates.iter().copied().filter(|&vector| fits(vector));
        let Some(best) = free.min_by_key(|&vector| cost(vector)) else { break };
        for side in seen.iter_mut().filter(|side| bit_index >= side.line) {
            if !side.space.insert(best) {
                side.cost = side.cost.saturating_mul(2);
            }
        }
        taken.insert(best);
        outside.insert(best);
        segments.push(best);
    }
    segments.reverse();
    let banks = taken.extend_basis(problem.bits, chunk);
    low.iter().chain(&banks).chain(&segments).copied().collect()
}

/// Returns candidates for segments (offset bits above the banks), the simplest first: all vectors if there are few
/// bits; for many bits, vectors of up to three set bits, and some pseudo-random ones.
fn vectors(bits: u32) -> Vec<u64> {
    if bits <= FEW {
        let mut all: Vec<u64> = (1..1u64 << bits).collect();
        all.sort_by_key(|vector| vector.count_ones());
        return all;
    }
    let units: Vec<u64> = (0..bits).map(|bit| 1u64 << bit).collect();
    let mut all = units.clone();
    for (at, a) in units.iter().enumerate() {
        for (next, b) in units.iter().enumerate().skip(at + 1) {
            all.push(a | b);
            all.extend(units[next + 1..].iter().map(|c| a | b | c));
        }
    }
    all.sort_by_key(|vector| vector.count_ones());
    let mut random = Random::new();
    all.extend((0..256).map(|_| random.next() & ((1 << bits) - 1)).filter(|&vector| vector != 0));
    all
}
