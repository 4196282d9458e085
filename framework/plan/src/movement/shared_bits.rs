//! Bits that plans move through shared memory.

use std::iter::Sum;
use std::ops::Add;

/// Bits that one lane moves through shared memory, over all of a plan's accesses. Code generators may join
/// accesses or split them, so this, not the number of accesses, is what the code must show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedBits {
    /// Stored, by a lane that no predicate leaves out.
    pub stored: u64,
    /// Loaded.
    pub loaded: u64,
}

/// The bits of one plan after the other.
impl Add for SharedBits {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { stored: self.stored + other.stored, loaded: self.loaded + other.loaded }
    }
}

impl Sum for SharedBits {
    fn sum<I: Iterator<Item = Self>>(plans: I) -> Self {
        plans.fold(Self::default(), Self::add)
    }
}
