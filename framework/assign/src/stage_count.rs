//! The number of stages of a software-pipelined loop, chosen by predicted time: of loops with prefetched loads and of
//! loops of explicit-memory programs.

use std::ops::RangeInclusive;

/// Max number of stages that is tried if neither the program nor the launch states one.
pub(crate) const MAX_STAGES: u32 = 8;

/// Chooses a number of stages: tries `first`, then more and then fewer than `first`, one by one, as long as each is
/// faster than all before. `is_faster` predicts the time of the program with a number of stages of the loop, and keeps
/// the program if it is the fastest.
pub(crate) fn choose_stages(candidates: &RangeInclusive<u32>, first: u32, mut is_faster: impl FnMut(u32) -> bool) {
    is_faster(first);
    let steps: [fn(u32) -> Option<u32>; 2] = [|stages| stages.checked_add(1), |stages| stages.checked_sub(1)];
    for next in steps {
        let mut last = first;
        while let Some(stages) = next(last).filter(|stages| candidates.contains(stages) && is_faster(*stages)) {
            last = stages;
        }
    }
}
