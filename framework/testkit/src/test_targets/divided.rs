//! Generates register and shared-memory layouts that the tile of an invented instruction divides (left division), so
//! that the instruction can be used for the access.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tilewright_layout::Padding;
use tilewright_layout::f2::multiply_vector;

use super::LANE_BITS;
use super::accesses::{SharedAccessSpec, distributed, memory};
use super::tiles::{Source, TILES, Tile};

/// Random parameters of a shared-memory access whose layout the tile of an instruction divides (left division).
#[derive(Debug, Clone)]
pub struct DividedCase {
    pub tile: Tile,
    pub loads: bool,
    /// Log2 of the size of an element in bytes.
    byte_bits: u32,
    /// For each register bit beyond the tile: whether registers along it hold replicas; and the index of a register bit
    /// within the tile's memory segments, whose offset is xored to this bit's offset (no such bit if the index is too
    /// large).
    registers: Vec<(bool, u32)>,
    /// For each warp bit, whether the warps along it hold replicas.
    warps: Vec<bool>,
    /// Pairs of indices for [`add_columns`], which changes the offsets of the bits above the tile's memory segment.
    swizzle: Vec<(usize, usize)>,
    /// Pairs of indices for [`add_columns`], which changes the elements that the offset bits select.
    mixed: Vec<(usize, usize)>,
    /// The padding, if any: log2 of the interval in memory segments of the tile, and the number of such segments that
    /// are inserted after each interval.
    padding: Option<(u32, u64)>,
    pub phase: usize,
    shuffled: Vec<usize>,
}

/// Generates a tile of an instruction, and parameters of layouts that the tile divides.
pub fn divided_case() -> impl Strategy<Value = DividedCase> {
    let pairs = || prop::collection::vec((0usize..16, 0usize..16), 0..5);
    let registers = prop::collection::vec((prop::bool::weighted(0.2), 0u32..4), 0..4);
    let warps = prop::collection::vec(prop::bool::weighted(0.3), 0..3);
    let padding = prop::option::of((0u32..4, 1u64..4));
    let shuffled = Just((0..16).collect::<Vec<_>>()).prop_shuffle();
    let shape = (0usize..6, any::<bool>(), 0u32..3, registers, warps);
    (shape, pairs(), pairs(), padding, 0usize..4, shuffled).prop_map(
        |((tile, loads, byte_bits, registers, warps), swizzle, mixed, padding, phase, shuffled)| {
            let tile = TILES[tile];
            let together =
                (0..).zip(tile.in_segment).take_while(|&(bit, from)| matches!(from, Source::Byte(own) if *own == bit));
            let byte_bits = byte_bits.min(together.count() as u32);
            let loads = loads || tile.name == "copies";
            DividedCase { tile, loads, byte_bits, registers, warps, swizzle, mixed, padding, phase, shuffled }
        },
    )
}

/// Xors basis vectors to others: for each pair, the vector at the first index to the vector at the second, both modulo
/// the number of vectors.
fn add_columns(columns: &mut [u64], pairs: &[(usize, usize)]) {
    let count = columns.len();
    for &(from, to) in pairs.iter().filter(|_| count > 0) {
        if from % count != to % count {
            columns[to % count] ^= columns[from % count];
        }
    }
}

impl DividedCase {
    /// Builds the layouts of the access, which the instruction's tile divides.
    pub fn problem(&self) -> SharedAccessSpec {
        let Self { tile, byte_bits, .. } = self;
        let vector_bits = tile.in_segment.len() as u32 - byte_bits;
        let copies =
            self.registers.iter().filter(|(copy, _)| *copy).count() + self.warps.iter().filter(|c| **c).count();
        let outer_bits = tile.segments.len() + self.registers.len() + self.warps.len() - copies;
        let mut above: Vec<u64> = (0..outer_bits).map(|bit| 1 << (vector_bits + bit as u32)).collect();
        add_columns(&mut above, &self.swizzle);
        let mut above = above.into_iter();
        let (mut byte_offsets, mut lanes) = (BTreeMap::new(), [0; LANE_BITS]);
        let mut put = |from: Source, offset: u64| match from {
            Source::Byte(bit) => drop(byte_offsets.insert(bit, offset)),
            Source::Lane(lane) => lanes[lane as usize] = offset,
        };
        for (bit, &from) in (0..vector_bits).zip(&tile.in_segment[*byte_bits as usize..]) {
            put(from, 1 << bit);
        }
        for &from in tile.segments {
            put(from, above.next().expect("as many as there are"));
        }
        let in_segment: Vec<u64> = byte_offsets.values().copied().filter(|offset| offset >> vector_bits == 0).collect();
        let mut registers: Vec<u64> = byte_offsets.values().copied().collect();
        for &(copy, added) in &self.registers {
            let own = if copy { 0 } else { above.next().expect("as many as there are") };
            registers.push(own ^ in_segment.get(added as usize).copied().unwrap_or(0));
        }
        let warps = self.warps.iter().map(|&copy| if copy { 0 } else { above.next().expect("as many as there are") });
        let order = self.shuffled.iter().filter(|&&at| at < registers.len());
        let offsets: Vec<u64> = order.map(|&at| registers[at]).chain(lanes).chain(warps).collect();
        let bits = vector_bits + outer_bits as u32;
        let mut elements: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        add_columns(&mut elements, &self.mixed);
        let columns: Vec<u64> = offsets.iter().map(|&offset| multiply_vector(&elements, offset)).collect();
        let padding = self.padding.map(|(interval, segments)| Padding {
            interval: 1 << (vector_bits + interval),
            padding: segments << vector_bits,
        });
        let padding: Vec<_> = padding.iter().map(|p| (p.interval, p.padding)).collect();
        SharedAccessSpec {
            registers: distributed(&columns, self.warps.len() as u32, bits),
            memory: memory(&elements, &padding),
            bits: 8 << byte_bits,
        }
    }
}
