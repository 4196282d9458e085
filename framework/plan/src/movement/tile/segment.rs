//! A slot (contiguous bytes at one address) that several accessors share.

use smallvec::SmallVec;

use super::{LocatedAccessor, Tile};
use tilewright_layout::f2::{Columns, Subspace};

/// An accessor (a store or load of a tensor) and the instruction by which it accesses shared memory; `None` for plain
/// accesses.
pub(in super::super) type TiledSide<'a> = (&'a LocatedAccessor, Option<&'a Tile<'a>>);

/// Returns the element at each offset bit of a slot (contiguous bytes at one address) that fits the instructions of all
/// these accessors. It is the element of a lane bit if an instruction fixes it, else an element that all accessors have
/// in registers. `None` if the instructions conflict, or if no accessor uses an instruction.
pub(in super::super) fn find_common_segment(sides: &[TiledSide<'_>]) -> Option<Columns> {
    let rows: SmallVec<[_; 4]> = sides.iter().filter_map(|&(side, tile)| Some((side, tile?))).collect();
    let &(first, tile) = rows.first()?;
    let bits = tile.segment_bits().checked_sub(first.byte_bits())? as usize;
    let mut required: SmallVec<[Option<u64>; 8]> = SmallVec::from_elem(None, bits);
    for (side, tile) in &rows {
        let vector_column = tile.vector(side).filter(|vector_column| vector_column.len() == bits)?;
        for (required, vector_column) in required.iter_mut().zip(vector_column) {
            match (*required, vector_column) {
                (Some(known), Some(vector_column)) if known != vector_column => return None,
                (known, vector_column) => *required = known.or(vector_column),
            }
        }
    }
    let mut space = Subspace::zero();
    // The fixed elements of different offset bits must be linearly independent.
    if required.iter().flatten().any(|&column| !space.insert(column)) {
        return None;
    }
    let common = find_common_registers(&sides.iter().map(|&(side, _)| side).collect::<SmallVec<[_; 4]>>());
    let vector_column = if rows.len() == 1 { &first.kept[..] } else { &[] };
    let mut registers = common.iter().chain(vector_column).copied().filter(|&column| space.insert(column));
    required.into_iter().map(|column| column.or_else(|| registers.next())).collect()
}

/// Returns a basis of the elements that a lane holds on all sides, as the vector of an access can have them: first those
/// that differ in the lowest register bits of all sides, then of one. Adjacent registers of narrow elements share a
/// 32-bit word, which an access moves without byte permutes if they are adjacent in the vector.
pub(in super::super) fn find_common_registers(sides: &[&LocatedAccessor]) -> Columns {
    let spans = sides.iter().map(|side| side.span.clone());
    let Some(common) = spans.reduce(|all, span| all.intersection(&span)) else { return Columns::new() };
    let registers = || sides.iter().rev().flat_map(|side| side.kept.iter());
    let shared = registers().filter(|column| sides.iter().all(|side| side.kept.contains(column)));
    let mut space = Subspace::zero();
    let ordered = shared.chain(registers()).chain(common.basis());
    ordered.copied().filter(|&column| common.contains(column) && space.insert(column)).collect()
}
