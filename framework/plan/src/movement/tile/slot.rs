//! The elements of a slot that several sides are to share.

use smallvec::SmallVec;

use super::{Located, Tile};
use tilewright_layout::f2::{Columns, Subspace};

/// A side and the row by which it moves; plain accesses where there is none.
pub(in super::super) type Way<'a> = (&'a Located, Option<&'a Tile<'a>>);

/// The elements of a slot of the rows of these sides: lanes where a row says so, elsewhere registers, of
/// all sides if there are any. `None` where rows have no slot in common, or none has one.
pub(in super::super) fn slot(sides: &[Way<'_>]) -> Option<Columns> {
    let rows: SmallVec<[_; 4]> = sides.iter().filter_map(|&(side, tile)| Some((side, tile?))).collect();
    let &(first, tile) = rows.first()?;
    let bits = tile.slot_bits().checked_sub(first.byte_bits())? as usize;
    let mut required: SmallVec<[Option<u64>; 8]> = SmallVec::from_elem(None, bits);
    for (side, tile) in &rows {
        let own = tile.vector(side).filter(|own| own.len() == bits)?;
        for (required, own) in required.iter_mut().zip(own) {
            match (*required, own) {
                (Some(known), Some(own)) if known != own => return None,
                (known, own) => *required = known.or(own),
            }
        }
    }
    let mut space = Subspace::zero();
    // What a row takes from a lane, the other sides must have in registers or lanes.
    if required.iter().flatten().any(|&column| !space.insert(column)) {
        return None;
    }
    let spans = sides.iter().map(|(side, _)| &side.span);
    let common = spans.skip(1).fold(sides[0].0.span.clone(), |all, span| all.intersection(span));
    let own = if rows.len() == 1 { &first.kept[..] } else { &[] };
    let mut registers = common.basis().iter().chain(own).copied().filter(|&column| space.insert(column));
    required.into_iter().map(|column| column.or_else(|| registers.next())).collect()
}
