//! [`SeededRng`]: numbers that look random and are the same in every run.

/// A pseudorandom generator: SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
/// (2014), as in Java.
#[derive(Debug, Clone)]
pub struct SeededRng(u64);

impl SeededRng {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 pseudorandom bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a pseudorandom number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }
}

impl Iterator for SeededRng {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.bits())
    }
}
