//! Xor masks between the indices of lanes that shuffle with each other.

/// A set of xor masks from 1 to 63, since no warp has more than 64 lanes. With mask `m` in the set, every lane of a
/// warp can read from the lane whose index differs by xor with `m`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShuffleXorMasks(u64);

impl ShuffleXorMasks {
    /// The set of all masks.
    pub(super) const ALL: Self = Self(u64::MAX - 1);

    /// Whether lanes whose indices differ by xor with `mask` can shuffle with each other; false for zero.
    #[must_use]
    pub fn contains(self, mask: u64) -> bool {
        mask < u64::from(u64::BITS) && self.0 >> mask & 1 == 1
    }

    /// Returns the set of masks that are in either set.
    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<u32> for ShuffleXorMasks {
    fn from_iter<I: IntoIterator<Item = u32>>(masks: I) -> Self {
        let bits = masks.into_iter().filter(|mask| (1..u64::BITS).contains(mask));
        Self(bits.fold(0, |set, mask| set | 1 << mask))
    }
}
