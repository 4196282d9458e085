//! What an accessor takes at least, whatever the layout of memory.

use tilewright_layout::f2::Subspace;

use super::super::tile::Tile;
use super::problem::Question;
use super::side::Side;

/// The wavefronts that `side` takes at least by plain accesses of `2^width` elements: each access takes one
/// for every phase, more where a phase wants more words than the banks give at once. `None` where it has no
/// such accesses.
pub(super) fn at_width(problem: &Question<'_>, side: &Side<'_>, width: u32) -> Option<u64> {
    let accesses = side.accesses(width)?;
    let row = problem.row(side, width)?;
    let lanes = side.phase_lanes(row);
    let phases = side.active().dimension() - lanes.dimension();
    // A phase's vectors are different elements at least as far as registers do not hold them too.
    let different = side.span().sum(&Subspace::span(side.phase(row))).dimension() - side.span().dimension();
    let bytes = problem.element_bytes() << (width + different);
    Some(bytes.div_ceil(row.wavefront_bytes().max(1)) << (accesses + phases))
}

/// The wavefronts that `side` takes at least by a row of the instruction table: each access takes one for
/// every phase of its slots.
pub(super) fn by_row(problem: &Question<'_>, side: &Side<'_>, tile: &Tile<'_>) -> Option<u64> {
    let accesses = side.accesses(tile.width(&side.located)?)?;
    Some(1 << (accesses + tile.phases(problem.target)?))
}

/// The wavefronts that `side` takes at least by any accesses.
pub(super) fn by_any(problem: &Question<'_>, side: &Side<'_>) -> Option<u64> {
    let plain = (0..=problem.widest()).filter_map(|width| at_width(problem, side, width));
    plain.chain(side.tiles.iter().filter_map(|tile| by_row(problem, side, tile))).min()
}
