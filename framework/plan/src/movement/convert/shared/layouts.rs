//! Candidate layouts of the scratch memory of a conversion.

use tilewright_layout::f2::{Columns, Subspace};

use super::Sides;
use crate::movement::choose::swizzle::{self, ScratchLayout};
use crate::movement::tile::{LocatedAccessor, Phase, Tile, find_common_registers, find_common_segment};

/// The parameters of a scratch layout: the lanes and banks of writer and reader, the elements of the vector (the
/// elements of one access), and the elements of the first offset bits that select a bank.
struct Shape {
    writer: Phase,
    reader: Phase,
    vector: Columns,
    vector_bytes: u64,
    bank_first: Columns,
}

impl Sides<'_> {
    /// Iterates over layouts for plain accesses: one for every number of elements of an access, the largest first, and
    /// variants that give one side wider accesses. Layouts are computed lazily.
    pub(super) fn plain_layouts(&self) -> impl Iterator<Item = ScratchLayout> {
        let (src, dst, conversion) = (self.src, self.dst, self.conversion);
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0) / conversion.element.bits();
        let widest = widest.max(1).ilog2() as usize;
        let common = find_common_registers(&[src, dst]);
        let mut shapes = Vec::new();
        for vector_bits in (0..=widest.min(common.len())).rev() {
            let vector = &common[..vector_bits];
            for (src_extra, dst_extra, first) in fills(vector, src, dst, widest - vector_bits) {
                let phase = |side: &LocatedAccessor, extra: usize| {
                    let bits = conversion.element.bits() << (vector_bits + extra);
                    side.phase(bits, self.target)
                };
                let (Some(writer), Some(reader)) = (phase(src, src_extra), phase(dst, dst_extra)) else { continue };
                let vector_bytes = conversion.element_bytes() << vector_bits;
                shapes.push(Shape { writer, reader, vector: vector.into(), vector_bytes, bank_first: first });
            }
        }
        let kept = self.coordinates.kept;
        shapes.into_iter().map(move |shape| shape.layout(kept))
    }

    /// Returns layouts whose vector is the slot (contiguous memory of one access) of an instruction of one side or of
    /// both. Layouts are computed lazily.
    pub(super) fn tiled_layouts(&self, tiles: &[Tile<'_>]) -> impl Iterator<Item = ScratchLayout> {
        let of = |side: &LocatedAccessor| -> Vec<Option<&Tile<'_>>> {
            let mut kinds = Tile::kinds(tiles, side.direction);
            kinds.retain(|tile| tile.is_none_or(|tile| tile.reaches(&side.reach)));
            kinds
        };
        let (stores, loads) = (of(self.src), of(self.dst));
        let pairs = stores.iter().flat_map(|&store| loads.iter().map(move |&load| (store, load)));
        let shapes: Vec<Shape> = pairs.filter_map(|(store, load)| self.tiled(store, load)).collect();
        let kept = self.coordinates.kept;
        shapes.into_iter().map(move |shape| shape.layout(kept))
    }

    /// Returns the parameters of a layout for an instruction on at least one side (`None`: plain accesses there).
    /// Returns `None` if both sides use plain accesses, or if the slots of the instructions conflict.
    fn tiled(&self, store: Option<&Tile<'_>>, load: Option<&Tile<'_>>) -> Option<Shape> {
        let segment_bits = store.or(load)?.segment_bits();
        let vector = find_common_segment(&[(self.src, store), (self.dst, load)])?;
        let phase = |side: &LocatedAccessor, tile: Option<&Tile<'_>>| match tile {
            Some(tile) => tile.phase(side, &vector, self.target),
            None => {
                let in_lane = vector.iter().take_while(|&&column| side.span.contains(column)).count();
                side.phase(self.conversion.element.bits() << in_lane, self.target)
            }
        };
        let (writer, reader) = (phase(self.src, store)?, phase(self.dst, load)?);
        Some(Shape { writer, reader, vector, vector_bytes: 1 << segment_bits, bank_first: Columns::new() })
    }
}

impl Shape {
    fn layout(self, kept: u32) -> ScratchLayout {
        swizzle::choose(self.phase(&self.writer), self.phase(&self.reader), &self.vector, &self.bank_first, kept)
    }

    fn phase<'a>(&self, phase: &'a Phase) -> swizzle::Phase<'a> {
        let banks = (phase.wavefront_bytes / self.vector_bytes).max(1).ilog2();
        swizzle::Phase { lanes: &phase.lanes, bank_bits: banks.max(self.bank_first.len() as u32) }
    }
}

/// Returns choices of the elements at the offset bits that select a bank: none, or up to `most` further register
/// columns of one side, which make the accesses of that side wider. Each choice is (number of columns from the source,
/// number from the destination, the columns).
fn fills(vector: &[u64], src: &LocatedAccessor, dst: &LocatedAccessor, most: usize) -> Vec<(usize, usize, Columns)> {
    let mut fills = vec![(0, 0, Columns::new())];
    for extra in 1..=most {
        fills.extend(fill(vector, &src.kept, extra).map(|fill| (extra, 0, fill)));
        fills.extend(fill(vector, &dst.kept, extra).map(|fill| (0, extra, fill)));
    }
    fills
}

/// Returns the first `extra` of the register columns `registers` that are linearly independent of the vector; `None` if
/// there are fewer.
fn fill(vector: &[u64], registers: &[u64], extra: usize) -> Option<Columns> {
    let mut space = Subspace::span(vector.iter().copied());
    let fill: Columns = registers.iter().copied().filter(|&column| space.insert(column)).take(extra).collect();
    (fill.len() == extra).then_some(fill)
}
