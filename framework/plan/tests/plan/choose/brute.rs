//! Counts wavefronts by enumerating every address, from the definition. This module shares only the machine's
//! description with the code that plans accesses and chooses layouts.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, TargetDescription};

/// An accessor (a store or load of a tensor), given by the element of each warp, lane and register.
pub struct Accesses {
    pub direction: Direction,
    /// The elements, as `elements[warp][lane][register]`.
    pub elements: Vec<Vec<Vec<u64>>>,
}

impl Accesses {
    pub fn of(layout: &LinearLayout, direction: Direction) -> Self {
        let size = |dim| 1u64 << layout.in_bits(dim);
        let at = |warp: u64, lane: u64, register: u64| {
            let position = [(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)];
            let there = position.into_iter().filter(|&(dim, _)| layout.ins().contains(dim)).collect::<Vec<_>>();
            layout.outs().pack(&layout.apply(&there).expect("a position")).expect("an element")
        };
        let registers = |warp, lane| (0..size(Dim::REGISTER)).map(|register| at(warp, lane, register)).collect();
        let lanes = |warp| (0..size(Dim::LANE)).map(|lane| registers(warp, lane)).collect();
        Self { direction, elements: (0..size(Dim::WARP)).map(lanes).collect() }
    }

    /// Returns the fewest wavefronts of the busiest warp over the vector widths that the memory allows. `offsets` has
    /// the offset of each element, in elements.
    pub fn wavefronts(&self, offsets: &[u64], element_bits: u32, target: &TargetDescription) -> u64 {
        let widths = (0..8).filter(|&width| target.shared.access_bits.contains(&(element_bits << width)));
        let counted = widths.filter_map(|width| self.at_width(offsets, element_bits, width, target));
        counted.min().expect("accesses of one element are always possible")
    }

    /// Lower bound over all layouts: a wavefront moves one word of each bank. A warp moves all elements that it loads,
    /// or its share of those that are stored.
    pub fn fewest_by_counting(&self, element_bits: u32, target: &TargetDescription) -> u64 {
        let different = |elements: Vec<&u64>| elements.into_iter().collect::<BTreeSet<_>>().len() as u64;
        let moved = match self.direction {
            Direction::Load => self.elements.iter().map(|warp| different(warp.iter().flatten().collect())).max(),
            Direction::Store => {
                let all = different(self.elements.iter().flatten().flatten().collect());
                Some(all.div_ceil(self.elements.len() as u64))
            }
        };
        let most = target.shared.banks.iter().map(|row| u64::from(row.banks * row.bank_bytes)).max();
        let bytes = moved.expect("a warp") * u64::from(element_bits / 8);
        bytes.div_ceil(most.expect("a bank row"))
    }

    fn at_width(&self, offsets: &[u64], element_bits: u32, width: u32, target: &TargetDescription) -> Option<u64> {
        let row = target.find_bank_row(self.direction, element_bits << width)?;
        let vectors = self.vectors(offsets, width)?;
        let bytes = u64::from(element_bits / 8);
        let mut done = BTreeSet::new();
        let mut most = 0;
        for lanes in &self.elements {
            let mut of_warp = 0;
            // Lanes whose elements an earlier thread stored are inactive.
            let fresh: Vec<bool> = lanes
                .iter()
                .map(|registers| self.direction == Direction::Load || done.insert(registers.iter().min()))
                .collect();
            for vector in &vectors {
                let first = |(lane, registers): (usize, &Vec<u64>)| {
                    fresh[lane].then(|| offsets[registers[vector[0]] as usize] * bytes)
                };
                let addresses: Vec<_> = lanes.iter().enumerate().map(first).collect();
                for phase in row.lanes_of_phases(&addresses) {
                    let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
                    for lane in phase.into_iter().filter(|&lane| fresh[lane as usize]) {
                        for &register in vector {
                            let from = offsets[lanes[lane as usize][register] as usize] * bytes;
                            for byte in from..from + bytes {
                                let word = byte / u64::from(row.bank_bytes);
                                words.entry(word % u64::from(row.banks)).or_default().insert(word);
                            }
                        }
                    }
                    of_warp += words.values().map(|words| words.len() as u64).max().unwrap_or(0);
                }
            }
            most = most.max(of_warp);
        }
        Some(most)
    }

    /// Returns the registers of each access: they hold the elements of one aligned block of memory, equal in all lanes
    /// of all warps. `None` if some lane holds only a part of a block.
    fn vectors(&self, offsets: &[u64], width: u32) -> Option<Vec<Vec<usize>>> {
        let of_lane = |registers: &[u64]| -> Option<Vec<Vec<usize>>> {
            let mut blocks: BTreeMap<u64, BTreeMap<u64, usize>> = BTreeMap::new();
            for (register, &element) in registers.iter().enumerate() {
                let at = offsets[element as usize];
                blocks.entry(at >> width).or_default().entry(at).or_insert(register);
            }
            let is_complete = blocks.values().all(|block| block.len() == 1 << width);
            let mut vectors: Vec<Vec<usize>> =
                blocks.into_values().map(|block| block.into_values().collect()).collect();
            vectors.sort();
            is_complete.then_some(vectors)
        };
        let mut lanes = self.elements.iter().flatten().map(|registers| of_lane(registers));
        let first = lanes.next()??;
        lanes.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }
}
