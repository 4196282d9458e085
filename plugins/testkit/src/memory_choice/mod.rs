//! Choices of memory layouts for the vendors' own layouts of registers, executed by the emulator.

use crate::prelude::*;
use tilewright_plan::movement::SharedLayoutCandidate;

/// The wavefronts of an accessor of `layout`, executed.
pub fn executed(
    layout: &LinearLayout,
    direction: Direction,
    memory: &MemoryLayout,
    bits: u32,
    context: PlanContext<'_>,
) -> u64 {
    let plan = access_shared(layout, memory, bits, direction, context).expect("a plan");
    match direction {
        Direction::Store => {
            proven_case(store_case(layout, memory, bits, &plan), context, "stores").counts.wavefronts_stored
        }
        Direction::Load => {
            proven_case(load_case(layout, memory, bits, &plan), context, "loads").counts.wavefronts_loaded
        }
    }
}

/// Runs all accesses of a candidate: what is executed is what was promised.
pub fn check(candidate: &SharedLayoutCandidate, accessors: &[Accessor], bits: u32, context: PlanContext<'_>) {
    for (accessor, stats) in accessors.iter().zip(&candidate.accessors) {
        let fetched = candidate.fetch.as_ref().filter(|_| accessor.copy.is_some()).map(|fetch| &fetch.layout);
        let layout = fetched.unwrap_or(&accessor.layout);
        let context = if accessor.copy.is_some() { context.with_instructions(&[]) } else { context };
        let wavefronts = executed(layout, accessor.direction, &candidate.memory, bits, context);
        assert_eq!(wavefronts, stats.wavefronts, "{}", candidate.kind);
    }
}
