//! Pseudorandom choices, the same in every run for a seed.

use tilewright_testkit::seeded_rng::SeededRng;

/// A stream of random choices, determined by a seed.
#[derive(Debug, Clone)]
pub struct Random(SeededRng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SeededRng::new(seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0xE703_7ED1_A0B4_28DB))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a random number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.bits() % end as u64) as usize }
    }

    /// Returns a random element of the list; `None` if the list is empty.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// Returns true with probability 1 / `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
