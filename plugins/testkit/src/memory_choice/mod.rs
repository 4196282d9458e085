//! Choices of memory layouts for the vendors' own layouts of registers, executed by the emulator.

use tilewright_layout::families::Neutral;
use tilewright_layout::{FamilySet, Layout, LinearLayout, MemoryLayout, parse_spec};
use tilewright_plan::movement::{Accessor, Candidate, Means, load_shared, store_shared};
use tilewright_plugin::Target;
use tilewright_target::Direction;
use tilewright_verify::{check_emulated, load_case, store_case};

/// The layout that a text names.
pub fn layout(target: &dyn Target, text: &str, shape: &[u64]) -> Layout {
    let spec = parse_spec(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    families.layout(&spec, shape).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The layout of registers that a text names.
pub fn registers(target: &dyn Target, text: &str, shape: &[u64]) -> LinearLayout {
    match layout(target, text, shape) {
        Layout::Distributed(layout) => layout,
        other => panic!("{text}: {other:?}"),
    }
}

/// The wavefronts of an accessor of `layout`, executed.
pub fn executed(
    layout: &LinearLayout,
    direction: Direction,
    memory: &MemoryLayout,
    bits: u32,
    means: Means<'_>,
) -> u64 {
    match direction {
        Direction::Store => {
            let plan = store_shared(layout, memory, bits, means).expect("a plan");
            store_case(layout, memory, bits, &plan)
                .and_then(|case| check_emulated(&case, means))
                .expect("memory holds the tensor")
                .counts
                .wavefronts_stored
        }
        Direction::Load => {
            let plan = load_shared(layout, memory, bits, means).expect("a plan");
            load_case(layout, memory, bits, &plan)
                .and_then(|case| check_emulated(&case, means))
                .expect("registers hold it")
                .counts
                .wavefronts_loaded
        }
    }
}

/// A target with its instructions.
pub fn all(target: &dyn Target) -> Means<'_> {
    Means::of(target.description()).with_instructions(target.instructions())
}

/// Runs all accesses of a candidate: what is executed is what was promised.
pub fn prove(candidate: &Candidate, accessors: &[Accessor], bits: u32, means: Means<'_>) {
    for (accessor, figures) in accessors.iter().zip(&candidate.accessors) {
        let fetched = candidate.fetch.as_ref().filter(|_| accessor.copy.is_some()).map(|fetch| &fetch.layout);
        let layout = fetched.unwrap_or(&accessor.layout);
        let means = if accessor.copy.is_some() { means.with_instructions(&[]) } else { means };
        let wavefronts = executed(layout, accessor.direction, &candidate.memory, bits, means);
        assert_eq!(wavefronts, figures.wavefronts, "{}", candidate.kind);
    }
}
