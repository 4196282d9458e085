//! What accesses by a tile are and cost.

use smallvec::SmallVec;

use super::{Accesses, Placed, Tile};
use tilewright_layout::f2::{Columns, multiply};
use tilewright_target::{BankRow, linear_wavefronts_without, wavefronts};

/// Accesses of a side by one tile.
#[derive(Debug, Clone)]
pub(in super::super) struct Figures {
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

impl Figures {
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

impl Placed<'_> {
    /// The wavefronts of an access whose slots lie from `offset` on: each memory serves those that access it.
    pub(super) fn wavefronts(&self, figures: &Figures, row: &BankRow, offset: u64) -> u64 {
        let byte_bits = self.side.byte_bits();
        let idle = figures.idle & self.side.lane_mask();
        let reach = &self.side.reach;
        if self.memory.padding.is_empty() && !reach.parts_lanes() {
            let slots: Columns = figures.slots.iter().map(|slot| slot << byte_bits).collect();
            return linear_wavefronts_without(row, &slots, idle, 1 << figures.slot_bits);
        }
        let address = |slot: u64| self.memory.padded(offset ^ multiply(&figures.slots, slot)) << byte_bits;
        let of_block = |distance: u64| {
            // Only plain accesses reach other blocks: their slots are the lanes' own.
            let served = |slot: u64| slot & idle == 0 && reach.distance(slot) == distance;
            let slots = 0..1u64 << figures.slots.len();
            let addresses: SmallVec<[Option<u64>; 64]> =
                slots.map(|slot| served(slot).then(|| address(slot))).collect();
            wavefronts(row, &addresses, 1 << figures.slot_bits)
        };
        reach.distances().into_iter().map(of_block).sum()
    }

    /// The wavefronts of the busiest warp: exact with padding too, where accesses and warps differ.
    pub(in super::super) fn wavefronts_of(&self, accesses: &Accesses, tile: &Tile<'_>) -> u64 {
        let (figures, lane_bits) = (&accesses.figures, self.side.lane_bits);
        let (Some(row), false) = (tile.bank_row(self.target), self.memory.padding.is_empty()) else {
            return figures.wavefronts();
        };
        let of_warp = |warp: u64| {
            let offset = multiply(&figures.addresses, warp << lane_bits);
            let makes = |made_by: u64| warp << lane_bits & figures.idle & !self.side.lane_mask() == made_by;
            let own = accesses.of_round(0).filter(|access| makes(access.made_by));
            own.map(|access| self.wavefronts(figures, row, access.offset ^ offset)).sum::<u64>()
        };
        (0..self.side.warps()).map(of_warp).max().unwrap_or(0) << self.side.repeated_bits()
    }
}
