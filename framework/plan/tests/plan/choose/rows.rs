//! Tests of choices with data-movement instructions of the table, on the small test target: the chosen layout is
//! executed with the predicted wavefronts, no layout is below the bound, and no tried layout is better.

use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    GlobalTensor, PlanContext, RankedSharedLayouts, SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor,
    WarpAddressedSharedCopy, choose_shared_layout, plan_shared_access,
};
use tilewright_target::Direction;

use super::copies::check;
use tilewright_testkit::seeded_rng::SeededRng;

use super::layouts::{layout, random, random_memory};
use tilewright_testkit::test_targets::test_target;
use tilewright_testkit::test_targets::tiles::rows;

fn taken(accessors: &[SharedMemoryAccessor], memory: &MemoryLayout, bits: u32, context: PlanContext<'_>) -> u64 {
    let of = |one: &SharedMemoryAccessor| {
        plan_shared_access(&one.layout, memory, bits, one.direction, context).expect("a plan").wavefronts()
    };
    accessors.iter().map(|accessor| accessor.weight * of(accessor)).sum()
}

/// Chooses a layout, executes it, and checks that it is no worse than without instructions.
fn chosen(accessors: &[SharedMemoryAccessor], bits: u32, context: PlanContext<'_>) -> RankedSharedLayouts {
    let choice =
        choose_shared_layout(accessors, bits, &SharedLayoutSearchOptions::default(), context).expect("a choice");
    choice.candidates.iter().for_each(|candidate| check(candidate, accessors, bits, context));
    let plain =
        choose_shared_layout(accessors, bits, &SharedLayoutSearchOptions::default(), context.target).expect("a choice");
    assert!(
        choice.chosen().weighted_wavefronts() <= plain.chosen().weighted_wavefronts()
            && choice.lower_bound <= plain.lower_bound
    );
    choice
}

#[test]
fn no_memory_is_below_the_bound_or_better_than_the_choice() {
    let (target, rows) = (test_target(), rows());
    let context = PlanContext::new(&target).with_instructions(&rows);
    let mut source = SeededRng::new(23);
    let mut by_rows = 0;
    for (bits, warp_bits, copies, mixes) in [(5, 0, 0, 0), (6, 0, 0, 0), (6, 0, 0, 2), (6, 1, 0, 1), (6, 1, 2, 0)] {
        for element_bits in [8, 16, 32] {
            for directions in [[Direction::Store, Direction::Load], [Direction::Load, Direction::Load]] {
                let of = |direction| SharedMemoryAccessor {
                    direction,
                    ..SharedMemoryAccessor::store(random(&mut source, 3, warp_bits, bits, copies, mixes))
                };
                let accessors = directions.map(of);
                let choice = chosen(&accessors, element_bits, context);
                by_rows += choice.chosen().accessors.iter().filter(|stats| stats.instruction.is_some()).count();
                for _ in 0..40 {
                    let other = taken(&accessors, &random_memory(&mut source, bits), element_bits, context);
                    assert!(
                        choice.lower_bound <= other && choice.chosen().weighted_wavefronts() <= other,
                        "{accessors:?}"
                    );
                }
            }
        }
    }
    assert!(by_rows > 0, "rows are used somewhere");
}

/// Checks a store of rows, and a load that gives each lane a column of 16-bit elements, as the instruction
/// `load_columns` does. Neither takes more wavefronts than its bytes need; without the instruction one of them must.
#[test]
fn a_transposing_row_frees_both_sides() {
    let (target, rows) = (test_target(), rows());
    let context = PlanContext::new(&target).with_instructions(&rows);
    let stored = layout(&[1, 2, 4, 8, 16, 32], 3, 0, 6);
    let loaded = layout(&[8, 16, 32, 4, 1, 2], 3, 0, 6);
    let accessors = [SharedMemoryAccessor::store(stored), SharedMemoryAccessor::load(loaded)];
    let choice = chosen(&accessors, 16, context);
    let stats = &choice.chosen().accessors;
    // 128 bytes are four wavefronts of 32.
    let found: Vec<_> = stats.iter().map(|f| (f.wavefronts, f.excess, f.instruction.as_deref())).collect();
    assert_eq!(found, [(4, 0, None), (4, 0, Some("load_columns"))]);
    assert_eq!(choice.chosen().memory.alignment, Some(16), "the slots of the instruction, or the widest stores");
    let plain = choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), &target).expect("a choice");
    assert!(
        plain.chosen().weighted_wavefronts() > choice.chosen().weighted_wavefronts(),
        "{:?}",
        plain.chosen().accessors
    );
}

/// Checks that warps that hold replicas store a share each, and that the bound accounts for it.
#[test]
fn replicating_warps_share_stores() {
    let target = test_target();
    let stored = layout(&[1, 2, 4, 8, 16, 0, 32], 3, 2, 6);
    let loaded = layout(&[4, 8, 1, 2, 16, 32, 0], 3, 2, 6);
    let accessors = [SharedMemoryAccessor::store(stored), SharedMemoryAccessor::load(loaded)];
    let choice = chosen(&accessors, 32, PlanContext::new(&target));
    // Two warps hold the same 32 words, and each stores 16 of them: 64 bytes, two wavefronts.
    assert_eq!(choice.chosen().accessors[0].wavefronts, 2);
    assert_eq!((choice.lower_bound, choice.wavefronts_above_bound()), (choice.chosen().weighted_wavefronts(), 0));
}

/// Checks that a copy from global memory does not use instructions that move registers: for the same layout, stores use
/// such an instruction and the copy does not.
#[test]
fn copies_use_no_rows() {
    let (target, rows) = (test_target(), rows());
    let context = PlanContext::new(&target).with_instructions(&rows);
    let columns = layout(&[8, 16, 32, 4, 1, 2], 3, 0, 6);
    let copy = WarpAddressedSharedCopy { global: GlobalTensor::row_major(&[64], 16), access_bits: 16 };
    let stored = chosen(&[SharedMemoryAccessor::store(columns.clone())], 16, context);
    let copied = chosen(&[SharedMemoryAccessor::store(columns).with_copy(copy)], 16, context);
    let by = |choice: &RankedSharedLayouts| choice.chosen().accessors[0].instruction.clone();
    assert_eq!((by(&stored).is_some(), by(&copied)), (true, None));
    // Eight accesses of two bytes a lane; stores take a wavefront for each 32 of 128 bytes.
    assert_eq!((stored.chosen().weighted_wavefronts(), copied.chosen().weighted_wavefronts()), (4, 8));
}

/// Checks that wavefronts within the tolerated excess do not count, so that the simplest layout wins.
#[test]
fn allowed_wavefronts_leave_the_simplest_layout() {
    let target = test_target();
    let accessors = [
        SharedMemoryAccessor::store(layout(&[1, 2, 4, 8, 16, 32], 3, 0, 6)),
        SharedMemoryAccessor::load(layout(&[8, 16, 32, 1, 2, 4], 3, 0, 6)),
    ];
    let kind = |excess| {
        let constraints = SharedLayoutSearchOptions { excess, ..SharedLayoutSearchOptions::default() };
        choose_shared_layout(&accessors, 32, &constraints, &target).expect("a choice").chosen().kind
    };
    assert_eq!(kind(1 << 20), SharedLayoutKind::Plain);
    assert_ne!(kind(0), SharedLayoutKind::Plain);
}
