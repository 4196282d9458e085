//! Checks, on the emulator, of the shared-memory layouts that are chosen for the vendors' register layouts.

use crate::prelude::*;
use tilewright_plan::movement::SharedLayoutCandidate;

/// Emulates the stores or loads of a tensor between the register layout `layout` and the shared-memory layout `memory`,
/// and returns the number of shared-memory wavefronts.
pub fn executed(
    layout: &LinearLayout,
    direction: Direction,
    memory: &MemoryLayout,
    bits: u32,
    context: PlanContext<'_>,
) -> u64 {
    let plan = plan_shared_access(layout, memory, bits, direction, context).expect("a plan");
    match direction {
        Direction::Store => {
            check_case(build_shared_store_case(layout, memory, bits, &plan), context, "stores").counts.wavefronts_stored
        }
        Direction::Load => {
            check_case(build_shared_load_case(layout, memory, bits, &plan), context, "loads").counts.wavefronts_loaded
        }
    }
}

/// Emulates the accesses of all `accessors` with a candidate's shared-memory layout, and compares the wavefronts with
/// those that the candidate predicts. Elements have `bits` bits.
pub fn check(
    candidate: &SharedLayoutCandidate,
    accessors: &[SharedMemoryAccessor],
    bits: u32,
    context: PlanContext<'_>,
) {
    for (accessor, stats) in accessors.iter().zip(&candidate.accessors) {
        let fetched = candidate.fetch.as_ref().filter(|_| accessor.copy.is_some()).map(|fetch| &fetch.layout);
        let layout = fetched.unwrap_or(&accessor.layout);
        let context = if accessor.copy.is_some() { context.with_instructions(&[]) } else { context };
        let wavefronts = executed(layout, accessor.direction, &candidate.memory, bits, context);
        assert_eq!(wavefronts, stats.wavefronts, "{}", candidate.kind);
    }
}
