//! Descriptors of the tiles that a unit reads from shared memory, as kernel IR.

use crate::movement::{DescriptorMatch, Thread};
use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_target::MemoryOperand;

/// A factor in shared memory.
pub(super) struct Tiles<'a> {
    operand: &'a MemoryOperand,
    descriptor_match: DescriptorMatch,
    /// The descriptor's field for the start, with the address of the running warp's first tile.
    start: Value,
}

impl<'a> Tiles<'a> {
    /// Computes where the running warp's tiles begin in the memory at `buffer`, which has the layout. Each bit of
    /// the index of the thread (lanes, then warps) moves them by a tile of `threads`.
    ///
    /// # Panics
    /// Where the unit cannot read the layout: plans are made of layouts that it reads.
    pub(super) fn new(
        builder: &mut Builder,
        (layout, operand): (&LinearLayout, &'a MemoryOperand),
        buffer: Value,
        lane_bits: u32,
        threads: &[[u64; 2]],
    ) -> Self {
        let descriptor_match = DescriptorMatch::of(layout, operand).unwrap_or_else(|reason| panic!("{reason}"));
        let mut address = builder.cast(Cast::Bits, buffer, Type::Scalar(Element::I32));
        let columns: Vec<u64> = threads.iter().map(|&tile| descriptor_match.start(tile)).collect();
        if columns.iter().any(|&bytes| bytes != 0) {
            let thread = Thread::new(builder, lane_bits);
            let moved = thread.product(builder, &columns);
            address = builder.binary(Binary::Add, address, moved);
        }
        let start = DescriptorMatch::emit_start(builder, operand, address);
        Self { operand, descriptor_match, start }
    }

    /// The descriptor of a tile, by its number along dim0 and dim1.
    ///
    /// # Panics
    /// Where no descriptor says where the tile begins: plans are as large as descriptors reach.
    pub(super) fn descriptor(&self, builder: &mut Builder, tile: [u64; 2]) -> Value {
        let bits =
            self.descriptor_match.descriptor(self.operand, tile).unwrap_or_else(|| panic!("tile {tile:?} is too far"));
        let constant = builder.constant(Type::Scalar(Element::I64), bits);
        builder.binary(Binary::Add, self.start, constant)
    }
}
