//! Registers of a warp: for each register the values of all lanes, and a mask of the lanes that have written it.

/// Number of lanes of a warp.
pub(crate) const LANES: usize = 32;

/// The values of all virtual registers of a warp, and which lanes have written each.
pub(crate) struct Registers {
    values: Vec<[u64; LANES]>,
    defined: Vec<u32>,
}

impl Registers {
    pub(super) fn new(count: u32) -> Self {
        Self { values: vec![[0; LANES]; count as usize], defined: vec![0; count as usize] }
    }

    /// Marks all registers as unwritten, in all lanes.
    pub(super) fn clear(&mut self) {
        self.defined.fill(0);
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

    pub(crate) fn set(&mut self, register: u32, lane: usize, value: u64) {
        self.values[register as usize][lane] = value;
        self.defined[register as usize] |= 1 << lane;
    }

    /// Marks a register as unwritten in a lane.
    pub(crate) fn unset(&mut self, register: u32, lane: usize) {
        self.defined[register as usize] &= !(1 << lane);
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
    }
}
