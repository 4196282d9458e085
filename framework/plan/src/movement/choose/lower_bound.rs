//! Lower bounds of the wavefronts of an accessor over all memory layouts.

use tilewright_layout::f2::Subspace;

use super::super::tile::Tile;
use super::problem::SharedLayoutProblem;
use super::side::Side;

/// Min wavefronts of the accessor `side` by plain accesses of `2^width` elements: one for each phase of an access
/// (lanes that are served together), more if a phase needs more words than the banks deliver at once. `None` if the
/// target has no such access.
pub(super) fn at_width(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, width: u32) -> Option<u64> {
    let accesses = side.accesses(width)?;
    let row = problem.row(side, width)?;
    let lanes = side.phase_lanes(row);
    let phases = side.active().dimension() - lanes.dimension();
    // The vectors of a phase are distinct elements, except those that registers hold too.
    let different = side.span().sum(&Subspace::span(side.phase(row))).dimension() - side.span().dimension();
    let bytes = problem.element_bytes() << (width + different);
    Some(bytes.div_ceil(row.wavefront_bytes().max(1)) << (accesses + phases))
}

/// Min wavefronts of the accessor `side` by an instruction of the table: one for each phase of an access (slots that
/// are served together).
pub(super) fn by_row(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, tile: &Tile<'_>) -> Option<u64> {
    let accesses = side.accesses(tile.width(&side.located)?)?;
    Some(1 << (accesses + tile.phases(problem.target)?))
}

/// Min wavefronts of the accessor `side` by any accesses.
pub(super) fn by_any(problem: &SharedLayoutProblem<'_>, side: &Side<'_>) -> Option<u64> {
    let plain = (0..=problem.widest()).filter_map(|width| at_width(problem, side, width));
    plain.chain(side.tiles.iter().filter_map(|tile| by_row(problem, side, tile))).min()
}
