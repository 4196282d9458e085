//! What an accessor takes at least, whatever the layout of memory.

use crate::f2::Subspace;

use super::question::{Question, Side};

/// The wavefronts that `side` takes at least by accesses of `2^width` elements: each access takes one for
/// every phase, more where a phase wants more words than the banks give at once. `None` where it has no
/// such accesses.
pub(super) fn at_width(question: &Question<'_>, side: &Side, width: u32) -> Option<u64> {
    let accesses = side.span.dimension().checked_sub(width)?;
    let row = question.row(side.direction, width)?;
    let lanes = side.phase_lanes(row);
    let phases = side.active().dimension() - lanes.dimension();
    // A phase's vectors are different elements at least as far as registers do not hold them too.
    let different = side.span.sum(&Subspace::span(side.phase(row))).dimension() - side.span.dimension();
    let bytes = question.element_bytes() << (width + different);
    Some(bytes.div_ceil(row.wavefront_bytes().max(1)) << (accesses + phases))
}

/// The wavefronts that `side` takes at least by accesses of any width.
pub(super) fn at_any_width(question: &Question<'_>, side: &Side) -> Option<u64> {
    (0..=question.widest()).filter_map(|width| at_width(question, side, width)).min()
}
