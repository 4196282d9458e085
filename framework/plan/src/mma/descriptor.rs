//! Matrix descriptors (PTX) of the tiles that an atom reads from shared memory, as kernel IR.

use crate::movement::{DescriptorMatch, ThreadIndices};
use tilewright_kernel::{Binary, Builder, Cast, CollectiveScope, Element, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_target::MemoryOperand;

/// The tiles of an operand in shared memory, each addressed by a matrix descriptor.
pub(super) struct Tiles<'a> {
    operand: &'a MemoryOperand,
    descriptor_match: DescriptorMatch,
    /// The start-address field of the descriptor of the current warp's first tile.
    start: Value,
}

impl<'a> Tiles<'a> {
    /// Emits the start address of the current warp's tiles in the shared memory at `buffer`, whose layout is `layout`.
    /// `threads` has, for each bit of the thread index (lane bits, then warp bits), the distance in tiles along dim0
    /// and dim1 that the bit adds: no distance for lane bits. `issued_by_warps` is whether all lanes issue the instruction.
    ///
    /// # Panics
    /// If the atom cannot read the layout: plans only have layouts that it reads.
    pub(super) fn new(
        builder: &mut Builder,
        (layout, operand): (&LinearLayout, &'a MemoryOperand),
        buffer: Value,
        lane_bits: u32,
        (threads, issued_by_warps): (&[[u64; 2]], bool),
    ) -> Self {
        let descriptor_match = DescriptorMatch::find(layout, operand).unwrap_or_else(|reason| panic!("{reason}"));
        let mut address = builder.cast(Cast::Bits, buffer, Type::Scalar(Element::I32));
        let columns: Vec<u64> = threads.iter().map(|&tile| descriptor_match.tile_offset(tile)).collect();
        if columns.iter().any(|&bytes| bytes != 0) {
            let thread = ThreadIndices::new(builder, lane_bits);
            let mut moved = thread.emit_f2_product(builder, &columns);
            // Warps issue the instruction together and read the same tiles, so that descriptors stay in uniform registers.
            if issued_by_warps {
                moved = builder.assume_uniform(moved, CollectiveScope::Warp);
            }
            address = builder.binary(Binary::Add, address, moved);
        }
        let start = DescriptorMatch::emit_start_field(builder, operand, address);
        Self { operand, descriptor_match, start }
    }

    /// Emits the descriptor of the tile with the index `tile` along dim0 and dim1.
    ///
    /// # Panics
    /// If no descriptor reaches the tile; plans contain only tiles that descriptors reach.
    pub(super) fn descriptor(&self, builder: &mut Builder, tile: [u64; 2]) -> Value {
        let bits = self
            .descriptor_match
            .encode_tile_descriptor(self.operand, tile)
            .unwrap_or_else(|| panic!("tile {tile:?} is too far"));
        DescriptorMatch::emit_descriptor(builder, self.operand, self.start, bits)
    }
}
