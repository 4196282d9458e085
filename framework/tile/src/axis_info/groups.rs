//! Aligned groups: elements that rounding down to a multiple of a number maps to the same multiple.

use smallvec::SmallVec;

use super::AxisInfo;
use super::info::power_in;

/// Index bits that number the elements of groups. All elements of a group lie between two neighbouring multiples of a
/// power of two, at which the group starts. So their quotients by a multiple of that power are equal, and their
/// remainders move as the elements do.
pub(super) struct Groups {
    within: SmallVec<[bool; 12]>,
    /// A power of two that divides the first element of each group, apart from the excluded bits.
    pub(super) start: u64,
}

impl Groups {
    /// Finds the largest groups that end before the next multiple of `limit`, among the `candidates` of bits. Bits that
    /// are `apart` are in no group, and their steps are multiples of `limit`.
    pub(super) fn find(
        of: &AxisInfo,
        limit: u64,
        candidates: impl Fn(usize) -> bool,
        apart: impl Fn(usize) -> bool,
    ) -> Self {
        let steps = &of.steps;
        let is_within = |bit: usize| steps[bit].is_some_and(|step| step > 0) && candidates(bit) && !apart(bit);
        let mut within: SmallVec<[bool; 12]> = (0..steps.len()).map(is_within).collect();
        let mut start = of.divisibility_with(|bit| within[bit] || apart(bit));
        loop {
            let members = || (0..steps.len()).filter(|&bit| within[bit]);
            let length = members().filter_map(|bit| steps[bit]).fold(0u64, |sum, step| sum.saturating_add(step as u64));
            if length < start.min(limit) {
                return Self { within, start };
            }
            // A bit outside of the groups moves their starts.
            let Some(largest) = members().max_by_key(|&bit| steps[bit]) else { return Self { within, start } };
            start = start.min(steps[largest].map_or(1, power_in));
            within[largest] = false;
        }
    }

    /// Whether a bit numbers elements of a group.
    pub(super) fn has(&self, bit: usize) -> bool {
        self.within[bit]
    }
}
