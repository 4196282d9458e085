//! Registers of a warp: for each the values of all lanes, and in which lanes it was ever written.

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// All registers of a warp.
pub(crate) struct Registers {
    values: Vec<[u64; LANES]>,
    defined: Vec<u32>,
}

impl Registers {
    pub(super) fn new(count: u32) -> Self {
        Self { values: vec![[0; LANES]; count as usize], defined: vec![0; count as usize] }
    }

    /// Forgets what was written.
    pub(super) fn clear(&mut self) {
        self.defined.fill(0);
    }

    /// Gives all lanes a value.
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

    /// Lanes in which a register was written.
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

    /// Leaves a register undefined in a lane.
    pub(crate) fn unset(&mut self, register: u32, lane: usize) {
        self.defined[register as usize] &= !(1 << lane);
    }

    /// Sets a register in the lanes of a mask; of those only `defined` hold something.
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
