//! Layouts of registers and of shared memory that an instruction of the invented machine divides.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tilewright_layout::Padding;
use tilewright_layout::f2::multiply;

use super::LANE_BITS;
use super::accesses::{Question, distributed, memory};
use super::tiles::{Source, TILES, Tile};

/// Numbers by which a question is made that a tile divides.
#[derive(Debug, Clone)]
pub struct Made {
    pub tile: Tile,
    pub loads: bool,
    /// Log2 of an element's bytes.
    byte_bits: u32,
    /// For each further register: whether it holds a copy, and which of the slot's registers is added.
    registers: Vec<(bool, u32)>,
    /// For each warp bit whether it tells copies apart.
    warps: Vec<bool>,
    /// Sums of offset bits above the slot, and of elements.
    swizzle: Vec<(usize, usize)>,
    mixed: Vec<(usize, usize)>,
    /// In slots: after how many, as a power of two, how many.
    padding: Option<(u32, u64)>,
    pub phase: usize,
    shuffled: Vec<usize>,
}

/// Any shape of tile, between layouts that it divides.
pub fn made() -> impl Strategy<Value = Made> {
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
                (0..).zip(tile.in_slot).take_while(|&(bit, from)| matches!(from, Source::Held(own) if *own == bit));
            let byte_bits = byte_bits.min(together.count() as u32);
            let loads = loads || tile.name == "copies";
            Made { tile, loads, byte_bits, registers, warps, swizzle, mixed, padding, phase, shuffled }
        },
    )
}

/// Adds columns to others.
fn mix(columns: &mut [u64], pairs: &[(usize, usize)]) {
    let count = columns.len();
    for &(from, to) in pairs.iter().filter(|_| count > 0) {
        if from % count != to % count {
            columns[to % count] ^= columns[from % count];
        }
    }
}

impl Made {
    /// Layouts that the tile divides.
    pub fn problem(&self) -> Question {
        let Self { tile, byte_bits, .. } = self;
        let vector_bits = tile.in_slot.len() as u32 - byte_bits;
        let copies =
            self.registers.iter().filter(|(copy, _)| *copy).count() + self.warps.iter().filter(|c| **c).count();
        let whole = tile.slots.len() + self.registers.len() + self.warps.len() - copies;
        let mut above: Vec<u64> = (0..whole).map(|bit| 1 << (vector_bits + bit as u32)).collect();
        mix(&mut above, &self.swizzle);
        let mut above = above.into_iter();
        let (mut held, mut lanes) = (BTreeMap::new(), [0; LANE_BITS]);
        let mut put = |from: Source, offset: u64| match from {
            Source::Held(bit) => drop(held.insert(bit, offset)),
            Source::Lane(lane) => lanes[lane as usize] = offset,
        };
        for (bit, &from) in (0..vector_bits).zip(&tile.in_slot[*byte_bits as usize..]) {
            put(from, 1 << bit);
        }
        for &from in tile.slots {
            put(from, above.next().expect("as many as there are"));
        }
        let in_slot: Vec<u64> = held.values().copied().filter(|offset| offset >> vector_bits == 0).collect();
        let mut registers: Vec<u64> = held.values().copied().collect();
        for &(copy, added) in &self.registers {
            let own = if copy { 0 } else { above.next().expect("as many as there are") };
            registers.push(own ^ in_slot.get(added as usize).copied().unwrap_or(0));
        }
        let warps = self.warps.iter().map(|&copy| if copy { 0 } else { above.next().expect("as many as there are") });
        let order = self.shuffled.iter().filter(|&&at| at < registers.len());
        let offsets: Vec<u64> = order.map(|&at| registers[at]).chain(lanes).chain(warps).collect();
        let bits = vector_bits + whole as u32;
        let mut elements: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        mix(&mut elements, &self.mixed);
        let columns: Vec<u64> = offsets.iter().map(|&offset| multiply(&elements, offset)).collect();
        let padding = self.padding.map(|(interval, slots)| Padding {
            interval: 1 << (vector_bits + interval),
            padding: slots << vector_bits,
        });
        let padding: Vec<_> = padding.iter().map(|p| (p.interval, p.padding)).collect();
        Question {
            registers: distributed(&columns, self.warps.len() as u32, bits),
            memory: memory(&elements, &padding),
            bits: 8 << byte_bits,
        }
    }
}
