//! The wavefronts of accesses where they lie in memory.

use smallvec::SmallVec;

use super::{Accesses, Placed, Tile, TileStats};
use tilewright_layout::f2::{Columns, multiply};
use tilewright_target::{BankRow, linear_wavefronts_without, wavefronts};

impl Placed<'_> {
    /// The wavefronts of an access whose slots lie from `offset` on: each memory serves those that access it.
    pub(super) fn wavefronts(&self, stats: &TileStats, row: &BankRow, offset: u64) -> u64 {
        let byte_bits = self.side.byte_bits();
        let idle = stats.idle & self.side.lane_mask();
        let reach = &self.side.reach;
        if self.memory.padding.is_empty() && !reach.parts_lanes() {
            let slots: Columns = stats.slots.iter().map(|slot| slot << byte_bits).collect();
            return linear_wavefronts_without(row, &slots, idle, 1 << stats.slot_bits);
        }
        let address = |slot: u64| self.memory.padded(offset ^ multiply(&stats.slots, slot)) << byte_bits;
        let of_block = |distance: u64| {
            // Only plain accesses reach other blocks: their slots are the lanes' own.
            let served = |slot: u64| slot & idle == 0 && reach.distance(slot) == distance;
            let slots = 0..1u64 << stats.slots.len();
            let addresses: SmallVec<[Option<u64>; 64]> =
                slots.map(|slot| served(slot).then(|| address(slot))).collect();
            wavefronts(row, &addresses, 1 << stats.slot_bits)
        };
        reach.distances().into_iter().map(of_block).sum()
    }

    /// The wavefronts of the busiest warp: exact with padding too, where accesses and warps differ.
    pub(in super::super) fn wavefronts_of(&self, accesses: &Accesses, tile: &Tile<'_>) -> u64 {
        let (stats, lane_bits) = (&accesses.stats, self.side.lane_bits);
        let (Some(row), false) = (tile.bank_row(self.target), self.memory.padding.is_empty()) else {
            return stats.wavefronts();
        };
        let of_warp = |warp: u64| {
            let offset = multiply(&stats.addresses, warp << lane_bits);
            let makes = |made_by: u64| warp << lane_bits & stats.idle & !self.side.lane_mask() == made_by;
            let own = accesses.of_round(0).filter(|access| makes(access.made_by));
            own.map(|access| self.wavefronts(stats, row, access.offset ^ offset)).sum::<u64>()
        };
        (0..self.side.warps()).map(of_warp).max().unwrap_or(0) << self.side.repeated_bits()
    }
}
