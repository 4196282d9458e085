//! What accesses by a tile are and cost.

use smallvec::SmallVec;

use tilewright_layout::f2::Columns;

/// Accesses of a side by one tile.
#[derive(Debug, Clone)]
pub(in super::super) struct TileStats {
    /// The row by which registers move; plain accesses where there is none.
    pub(in super::super) instruction: Option<String>,
    /// For each thread bit, what it adds to the offset whose address it gives, in elements.
    pub(super) addresses: Columns,
    /// For each bit of a slot's number what it adds to the slot's offset, in elements.
    pub(super) slots: Columns,
    /// Log2 of the bytes of a slot.
    pub(super) slot_bits: u32,
    /// Bits that tell threads with the same elements apart: of these one makes each access.
    pub(in super::super) idle: u64,
    /// Log2 of the elements that a lane moves in an access.
    pub(in super::super) width: u32,
    /// Accesses of all rounds, at all blocks.
    pub(super) accesses: u64,
    /// Wavefronts that one access takes; with padding, the first.
    pub(in super::super) each: u64,
    /// Bits of warps that hold the same: bit `i` of an access's number says which of the two warps that
    /// differ in the `i`-th of these makes it.
    pub(super) shared_by: SmallVec<[u32; 4]>,
    /// Which registers are the tile's; for plain accesses those of the first elements in memory.
    pub(super) parts: Option<Box<Parts>>,
}

/// The registers of accesses, as elements in coordinates.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// For each bit of the element's number among what a lane holds of an access.
    pub(super) elements: Columns,
    /// Those that number slots, at the slots' bits; zero where a lane does.
    pub(super) slots: Columns,
    /// Those that number accesses.
    pub(super) steps: Columns,
}

impl TileStats {
    /// Wavefronts of the accesses that a warp makes, all taking as many as the first.
    pub(in super::super) fn wavefronts(&self) -> u64 {
        (self.accesses * self.each) >> self.shared_by.len()
    }

    /// How many accesses a warp issues. What predicates leave out is issued; around an instruction of
    /// all lanes a warp branches.
    pub(in super::super) fn issued(&self) -> u64 {
        if self.instruction.is_some() { self.accesses >> self.shared_by.len() } else { self.accesses }
    }

    /// Elements that one lane moves; of warps that share the work, one does.
    pub(in super::super) fn elements(&self) -> u64 {
        (self.accesses << self.width) >> self.shared_by.len()
    }
}
