//! Registers of a warp: for each register the values of all lanes, and a mask of the lanes that have written it. A lane may
//! have written some bytes of a register only, by an instruction that moves bits.

use std::collections::HashMap;

/// Number of lanes of a warp.
pub(crate) const LANES: usize = 32;

/// The values of all virtual registers of a warp, and which lanes have written each.
pub(crate) struct Registers {
    values: Vec<[u64; LANES]>,
    defined: Vec<u32>,
    /// For registers that lanes have written in part, the bytes that each lane has written, as bits of a mask. Lanes that
    /// have written the whole register are left out.
    partial: HashMap<u32, [u8; LANES]>,
}

impl Registers {
    pub(super) fn new(count: u32) -> Self {
        Self { values: vec![[0; LANES]; count as usize], defined: vec![0; count as usize], partial: HashMap::new() }
    }

    /// Marks all registers as unwritten, in all lanes.
    pub(super) fn clear(&mut self) {
        self.defined.fill(0);
        self.partial.clear();
    }

    /// Sets a register in all lanes and marks it as written.
    pub(super) fn fill(&mut self, register: u32, values: [u64; LANES]) {
        self.values[register as usize] = values;
        self.defined[register as usize] = u32::MAX;
    }

    pub(crate) fn get(&self, register: u32, lane: usize) -> u64 {
        self.values[register as usize][lane]
    }

    pub(crate) fn row(&self, register: u32) -> &[u64; LANES] {
        &self.values[register as usize]
    }

    /// Returns the mask of lanes that have written a register.
    pub(crate) fn defined(&self, register: u32) -> u32 {
        self.defined[register as usize]
    }

    pub(crate) fn is_defined(&self, register: u32, lane: usize) -> bool {
        self.defined[register as usize] >> lane & 1 == 1
    }

    /// Returns the bits of a register that the lane has written, as a mask of whole bytes.
    pub(crate) fn defined_bits(&self, register: u32, lane: usize) -> u64 {
        if self.is_defined(register, lane) {
            return u64::MAX;
        }
        let bytes = self.partial.get(&register).map_or(0, |lanes| lanes[lane]);
        (0..8).filter(|byte| bytes >> byte & 1 == 1).fold(0, |bits, byte| bits | 0xff << (8 * byte))
    }

    /// Whether the lane has written the lowest `bytes` bytes of a register.
    pub(crate) fn has_low_bytes(&self, register: u32, bytes: usize, lane: usize) -> bool {
        self.is_defined(register, lane) || self.defined_bits(register, lane).trailing_ones() as usize >= 8 * bytes
    }

    /// Sets a register that has the bits `mask`. Bytes whose bits are all in `defined` count as written.
    pub(crate) fn set_bits(&mut self, register: u32, lane: usize, value: u64, (defined, mask): (u64, u64)) {
        self.unset(register, lane);
        self.values[register as usize][lane] = value;
        if defined & mask == mask {
            self.defined[register as usize] |= 1 << lane;
            return;
        }
        let bytes = (0..8).filter(|byte| defined >> (8 * byte) & 0xff == 0xff).fold(0, |all, byte| all | 1u8 << byte);
        if bytes != 0 {
            self.partial.entry(register).or_insert([0; LANES])[lane] = bytes;
        }
    }

    pub(crate) fn set(&mut self, register: u32, lane: usize, value: u64) {
        self.values[register as usize][lane] = value;
        self.defined[register as usize] |= 1 << lane;
    }

    /// Marks a register as unwritten in a lane.
    pub(crate) fn unset(&mut self, register: u32, lane: usize) {
        self.defined[register as usize] &= !(1 << lane);
        if let Some(lanes) = self.partial.get_mut(&register) {
            lanes[lane] = 0;
        }
    }

    /// Sets a register in the lanes of the mask `lanes`; the values of other lanes stay. The register then counts as
    /// written in the lanes that are also in `defined`, and as unwritten in the other lanes of `lanes`.
    pub(crate) fn write(&mut self, register: u32, lanes: u32, defined: u32, values: &[u64; LANES]) {
        let own = &mut self.values[register as usize];
        if lanes == u32::MAX {
            *own = *values;
        } else {
            for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
                own[lane] = values[lane];
            }
        }
        let before = &mut self.defined[register as usize];
        *before = *before & !lanes | defined & lanes;
        if lanes & !defined != 0
            && let Some(partial) = self.partial.get_mut(&register)
        {
            (0..LANES).filter(|lane| lanes >> lane & 1 == 1).for_each(|lane| partial[lane] = 0);
        }
    }
}
