//! Finds aligned groups: elements between the same two neighbouring multiples of a number.

use smallvec::SmallVec;

use super::AxisInfo;
use super::info::power_in;

/// Aligned groups of elements: all elements of a group lie between the same two neighbouring multiples of a power of
/// two. The groups are given by index bits: elements whose indices differ only in these bits are one group.
///
/// So the quotients of a group's elements by a multiple of that power are equal, and their remainders differ as the
/// elements do.
pub(super) struct Groups {
    within: SmallVec<[bool; 12]>,
    /// A power of two that divides the first element of a group (all bits of the group are zero), if its index bits
    /// that are `apart` (see [`Groups::find`]) are also zero.
    pub(super) start: u64,
}

impl Groups {
    /// Finds the largest groups of elements of the value `of` that lie between the same two neighbouring multiples of
    /// `limit`. Only index bits for which `candidates` is true may be bits of a group.
    ///
    /// Index bits for which `apart` is true are not bits of a group; their steps must be multiples of `limit`.
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
            // Without this bit, there are more groups, and their first elements also differ by the step of the bit.
            let Some(largest) = members().max_by_key(|&bit| steps[bit]) else { return Self { within, start } };
            start = start.min(steps[largest].map_or(1, power_in));
            within[largest] = false;
        }
    }

    /// Whether an index bit is a bit of the groups.
    pub(super) fn has(&self, bit: usize) -> bool {
        self.within[bit]
    }
}
