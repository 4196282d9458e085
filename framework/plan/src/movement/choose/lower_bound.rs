//! Lower bounds of the wavefronts of an accessor, over all memory layouts and all divisions of a store among the
//! threads that hold replicas. Shuffles between lanes before the access are not considered, since they cost as much as
//! wavefronts.

use tilewright_layout::f2::Subspace;

use super::super::tile::Tile;
use super::problem::SharedLayoutProblem;
use super::side::Side;

/// Max number of variants of a problem that are searched besides the problem itself.
const MOST_VARIANTS: usize = 8;

/// The number of warp bits, and of lane bits, along which threads share the work of a store.
#[derive(Clone, Copy, Default)]
struct Sharing {
    warps: u32,
    lanes: u32,
}

/// Returns the min wavefronts of a warp for the accessor `side` by plain accesses of `2^width` elements: one for each
/// phase of an access (lanes that are served together), more if a phase needs more words than the banks deliver at
/// once. `None` if the target has no such access.
pub(super) fn at_width(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, width: u32) -> Option<u64> {
    of_shared(problem, side, width, Sharing::default())
}

/// As [`at_width`], if all threads that hold replicas share the work. Sharing among lanes of different phases gains
/// nothing: half as many accesses then have twice as many phases.
pub(super) fn shared_at_width(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, width: u32) -> Option<u64> {
    let served = Subspace::span(problem.row(side, width)?.phase.iter().copied());
    let bits = side.sharing();
    let warps = bits.iter().filter(|&&bit| bit >= side.located.lane_bits).count() as u32;
    let lanes = bits.iter().filter(|&&bit| bit < side.located.lane_bits && served.contains(1 << bit)).count() as u32;
    of_shared(problem, side, width, Sharing { warps, lanes })
}

fn of_shared(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, width: u32, sharing: Sharing) -> Option<u64> {
    let accesses = side.accesses(width)?.saturating_sub(sharing.warps);
    let shared = sharing.lanes.min(accesses);
    let row = problem.row(side, width)?;
    let lanes = side.phase_lanes(row);
    let phases = side.active().dimension() - lanes.dimension();
    // The lanes of a phase move distinct elements, except elements that registers of one lane hold too.
    let different = side.span().sum(&Subspace::span(side.phase(row))).dimension() - side.span().dimension();
    let bytes = problem.element_bytes() << (width + different + shared);
    Some(bytes.div_ceil(row.wavefront_bytes().max(1)) << (accesses - shared + phases))
}

/// Returns the min wavefronts of a warp for the accessor `side` by the instruction `tile`: one for each phase of an
/// access (slots that are served together). `None` if the instruction does not fit the accessor.
pub(super) fn by_row(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, tile: &Tile<'_>) -> Option<u64> {
    let accesses = side.accesses(tile.width(&side.located)?)?;
    Some(1 << (accesses + tile.phases(problem.target)?))
}

/// Returns the min wavefronts of a warp for the accessor `side`, by plain accesses or instructions; `None` if the
/// target has none.
pub(super) fn by_any(problem: &SharedLayoutProblem<'_>, side: &Side<'_>) -> Option<u64> {
    let plain = (0..=problem.widest()).filter_map(|width| at_width(problem, side, width));
    plain.chain(side.tiles.iter().filter_map(|tile| by_row(problem, side, tile))).min()
}

/// Returns the lower bound of the weighted wavefronts of all accessors for the division of work among replicas that
/// `problem` has.
pub(super) fn of_all(problem: &SharedLayoutProblem<'_>) -> u64 {
    let of = |side: &Side<'_>| Some(by_any(problem, side)?.saturating_mul(side.weight));
    problem.sides.iter().map(|side| of(side).unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
}

/// Returns the variants of `problem` that are searched besides the problem itself. In a variant, threads share the work
/// of replicas; the variants with the lowest bounds of the price come first.
pub(super) fn cheapest_variants<'a>(problem: &SharedLayoutProblem<'a>) -> Vec<SharedLayoutProblem<'a>> {
    let mut variants = problem.with_divided_replicas();
    variants.sort_by_key(|variant| variant.price(of_all(variant)));
    variants.truncate(MOST_VARIANTS);
    variants
}

/// As [`by_any`], if threads that hold replicas may share the work, however they divide it.
pub(super) fn by_any_sharing(problem: &SharedLayoutProblem<'_>, side: &Side<'_>) -> Option<u64> {
    let bits = side.sharing().len() as u32;
    if bits == 0 {
        return by_any(problem, side);
    }
    let plain = (0..=problem.widest()).filter_map(|width| shared_at_width(problem, side, width));
    // An instruction that does not fit the layout with replicas may fit if threads share the work.
    let rows = Tile::of_rows(side.context.instructions, side.located.lane_bits).into_iter();
    let by_rows = rows.filter(|tile| tile.direction == side.direction()).filter_map(|tile| {
        let accesses = side.accesses(tile.width(&side.located)?)?.saturating_sub(bits);
        Some(1 << (accesses + tile.phases(problem.target)?))
    });
    by_any(problem, side).into_iter().chain(plain).chain(by_rows).min()
}
