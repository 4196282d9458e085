//! Counts the wavefronts of accesses by their addresses.

use smallvec::SmallVec;

use super::{Accesses, PlacedAccessor, Tile, TileStats};
use tilewright_layout::f2::{Columns, multiply_vector};
use tilewright_target::{BankTableEntry, count_access_wavefronts, count_masked_linear_wavefronts};

impl PlacedAccessor<'_> {
    /// Counts the wavefronts of one access of a warp; `offset` is added (over F2) to the offsets of its slots
    /// (contiguous memory at one address). If lanes access several blocks, each block's memory serves its own lanes.
    pub(super) fn wavefronts(&self, stats: &TileStats, row: &BankTableEntry, offset: u64) -> u64 {
        let byte_bits = self.side.byte_bits();
        let idle = stats.idle & self.side.lane_mask();
        let reach = &self.side.reach;
        if self.memory.padding.is_empty() && !reach.separates_lanes() {
            let segments: Columns = stats.segments.iter().map(|segment| segment << byte_bits).collect();
            return count_masked_linear_wavefronts(row, &segments, idle, 1 << stats.segment_bits);
        }
        let address =
            |segment: u64| self.memory.padded(offset ^ multiply_vector(&stats.segments, segment)) << byte_bits;
        let of_block = |distance: u64| {
            // Only plain accesses reach other blocks, and each of their lanes has a slot of its own.
            let served = |segment: u64| segment & idle == 0 && reach.distance(segment) == distance;
            let segments = 0..1u64 << stats.segments.len();
            let addresses: SmallVec<[Option<u64>; 64]> =
                segments.map(|segment| served(segment).then(|| address(segment))).collect();
            count_access_wavefronts(row, &addresses, 1 << stats.segment_bits)
        };
        reach.distances().into_iter().map(of_block).sum()
    }

    /// Counts the wavefronts of the busiest warp over all its accesses. With padding every access of every warp is
    /// counted, since they differ.
    pub(in super::super) fn wavefronts_of(&self, accesses: &Accesses, tile: &Tile<'_>) -> u64 {
        let (stats, lane_bits) = (&accesses.stats, self.side.lane_bits);
        let (Some(row), false) = (tile.bank_row(self.target), self.memory.padding.is_empty()) else {
            return stats.wavefronts();
        };
        let of_warp = |warp: u64| {
            let offset = multiply_vector(&stats.addresses, warp << lane_bits);
            let makes = |issuer: u64| warp << lane_bits & stats.idle & !self.side.lane_mask() == issuer;
            let own = accesses.of_round(0).filter(|access| makes(access.issuer));
            own.map(|access| self.wavefronts(stats, row, access.offset ^ offset)).sum::<u64>()
        };
        (0..self.side.warps()).map(of_warp).max().unwrap_or(0) << self.side.repeated_bits()
    }
}
