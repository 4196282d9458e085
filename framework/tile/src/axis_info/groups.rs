//! Finds aligned groups: elements between the same two neighbouring multiples of a number.

use smallvec::SmallVec;

use super::AxisInfo;
use super::info::power_in;

/// Index bits that distinguish the elements of groups.
///
/// All elements of a group lie between two neighbouring multiples of a power of two. So their quotients by a multiple
/// of that power are equal, and their remainders differ as the elements do.
pub(super) struct Groups {
    within: SmallVec<[bool; 12]>,
    /// A power of two that divides the first element of each group, without the steps of the bits that are `apart`.
    pub(super) start: u64,
}

impl Groups {
    /// Finds the largest groups that end before the next multiple of `limit`; only the `candidates` may distinguish
    /// elements.
    ///
    /// The bits that are `apart` are in no group, and their steps must be multiples of `limit`.
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
            // A bit that leaves the groups changes the first elements of groups.
            let Some(largest) = members().max_by_key(|&bit| steps[bit]) else { return Self { within, start } };
            start = start.min(steps[largest].map_or(1, power_in));
            within[largest] = false;
        }
    }

    /// Whether a bit distinguishes elements of a group.
    pub(super) fn has(&self, bit: usize) -> bool {
        self.within[bit]
    }
}
