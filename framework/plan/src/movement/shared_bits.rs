//! The number of bits that a plan moves through shared memory.

use std::iter::Sum;
use std::ops::Add;

/// Bits that one lane moves through shared memory, over all accesses of a plan. Code generators may join or split
/// accesses, so tests of generated code compare bits rather than numbers of accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedMemoryBitsPerLane {
    /// Bits that a lane stores, if none of its accesses is predicated off.
    pub stored: u64,
    /// Bits that a lane loads.
    pub loaded: u64,
}

/// Adds the bits of two plans.
impl Add for SharedMemoryBitsPerLane {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { stored: self.stored + other.stored, loaded: self.loaded + other.loaded }
    }
}

impl Sum for SharedMemoryBitsPerLane {
    fn sum<I: Iterator<Item = Self>>(plans: I) -> Self {
        plans.fold(Self::default(), Self::add)
    }
}
