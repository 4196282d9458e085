//! The high offset bits of a layout: segments, which keep clear of the lanes of all accessors as far as
//! they can. For two accessors a theorem says how far; for more the best vector is taken, one at a time.

use tilewright_layout::f2::{Columns, Subspace};
use tilewright_target::BankRow;

use super::super::tile::Tile;
use super::problem::Question;
use super::random::Random;
use super::side::Side;
use super::{least, swizzle};

/// Log2 of the elements up to which every vector is tried as a segment.
const FEW: u32 = 8;

/// One accessor as segments see it.
struct Seen {
    /// What vectors, words, lanes of a phase, and segments so far span.
    space: Subspace,
    /// Wavefronts of all its accesses, by its weight: doubled by each segment within the space.
    cost: u64,
    /// The first offset bit above its banks.
    line: usize,
}

/// Offset columns that begin with `low`, and whose first ones span `chunk` where that is not empty.
pub(super) fn completed(problem: &Question<'_>, sides: &[usize], low: &[u64], chunk: &[u64]) -> Vec<Columns> {
    let mut seen = sides.iter().filter_map(|&at| seen(problem, at, low)).collect::<Vec<_>>();
    let mut all = Vec::new();
    if let (Some((writer, first)), Some((reader, last))) = (seen.first(), seen.last())
        && sides.len() <= 2
        && chunk.is_empty()
    {
        let mut lines = vec![first.line, last.line];
        lines.dedup();
        for line in lines {
            let swizzle = swizzle::choose(writer, reader, low, &[], problem.bits, (line - low.len()) as u32);
            all.push(swizzle.columns.into_iter().collect());
        }
    }
    if sides.len() > 2 || !chunk.is_empty() || seen.iter().any(|(_, side)| side.line != seen[0].1.line) {
        let chunk = if chunk.is_empty() { low } else { chunk };
        all.push(one_by_one(problem, low, chunk, seen.iter_mut().map(|(_, side)| side).collect()));
    }
    all
}

/// The columns of what one wavefront serves an accessor, and how segments see it, by the accesses that
/// `low` allows.
fn seen(problem: &Question<'_>, at: usize, low: &[u64]) -> Option<(Columns, Seen)> {
    let side = &problem.sides[at];
    seen_by_rows(problem, side, low).or_else(|| seen_plainly(problem, side, low))
}

/// By plain accesses.
fn seen_plainly(problem: &Question<'_>, side: &Side<'_>, low: &[u64]) -> Option<(Columns, Seen)> {
    let held = low.iter().take_while(|&&column| side.span().contains(column)).count() as u32;
    let (width, row) = (0..=held).rev().find_map(|width| Some((width, problem.row(side, width)?)))?;
    let phase = side.phase(row);
    let space = Subspace::span(low.iter().chain(&phase).copied());
    let phases = side.active().dimension() - side.phase_lanes(row).dimension();
    let cost = side.weight.saturating_mul(1 << (side.accesses(width)? + phases));
    Some((phase, Seen { space, cost, line: line(problem, row, low) }))
}

/// By the cheapest row of the instruction table whose slot `low` begins with.
fn seen_by_rows(problem: &Question<'_>, side: &Side<'_>, low: &[u64]) -> Option<(Columns, Seen)> {
    let of = |tile: &Tile<'_>| {
        let required = tile.vector(&side.located).filter(|required| required.len() <= low.len())?;
        let own =
            |(required, column): (Option<u64>, &u64)| required.map_or(side.span().contains(*column), |w| w == *column);
        let vector = &low[..required.len()];
        let row = tile.bank_row(problem.target).filter(|_| required.into_iter().zip(vector).all(own))?;
        let phase = tile.phase(&side.located, vector, problem.target)?;
        let space = Subspace::span(low.iter().chain(&phase).copied());
        let cost = side.weight.saturating_mul(least::by_row(problem, side, tile)?);
        Some((phase, Seen { space, cost, line: line(problem, row, low) }))
    };
    side.tiles.iter().filter_map(of).min_by_key(|(_, seen)| seen.cost)
}

/// The first offset bit above the banks.
fn line(problem: &Question<'_>, row: &BankRow, low: &[u64]) -> usize {
    let line = (row.wavefront_bytes() / problem.element_bytes()).max(1).ilog2() as usize;
    line.max(low.len()).min(problem.bits as usize)
}

/// Segments from the top, each the vector that costs least; a segment below the line of an accessor is
/// a bank to it and costs it nothing. The chunk holds `low`, and keeps its place below all else.
fn one_by_one(problem: &Question<'_>, low: &[u64], chunk: &[u64], mut seen: Vec<&mut Seen>) -> Columns {
    let bits = problem.bits as usize;
    let lowest = seen.iter().map(|side| side.line).min().unwrap_or(bits);
    let candidates = vectors(problem.bits);
    let inside = Subspace::span(chunk.iter().copied());
    let mut outside = inside.clone();
    let mut taken = Subspace::span(low.iter().copied());
    let mut segments = Columns::new();
    for place in (lowest..bits).rev() {
        let fits = |vector: u64| match place >= chunk.len() {
            true => !outside.contains(vector),
            false => inside.contains(vector) && !taken.contains(vector),
        };
        let cost = |vector: u64| {
            let hit = seen.iter().filter(|side| place >= side.line && side.space.contains(vector));
            hit.map(|side| side.cost).fold(0, u64::saturating_add)
        };
        let free = candidates.iter().copied().filter(|&vector| fits(vector));
        let Some(best) = free.min_by_key(|&vector| cost(vector)) else { break };
        for side in seen.iter_mut().filter(|side| place >= side.line) {
            if !side.space.insert(best) {
                side.cost = side.cost.saturating_mul(2);
            }
        }
        taken.insert(best);
        outside.insert(best);
        segments.push(best);
    }
    segments.reverse();
    let banks = taken.extend(problem.bits, chunk);
    low.iter().chain(&banks).chain(&segments).copied().collect()
}

/// What is tried as a segment, the plainest first: all vectors of a few bits; sums of up to three of many
/// bits, and some others, always the same.
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
