//! Choices with rows of an instruction table, on an invented machine: what was chosen is executed and takes
//! what was promised, no memory layout goes below the bound, and none that is tried is better.

use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Space};
use tilewright_plan::movement::{
    Accessor, ConsecutiveCopy, Constraints, GlobalTensor, Kind, MemoryChoice, PlanContext, access_shared,
    choose_shared_layout,
};
use tilewright_target::Direction;

use super::copies::check;
use tilewright_testkit::split_mix::SplitMix64;

use super::layouts::{layout, random};
use tilewright_testkit::machines::machine;
use tilewright_testkit::machines::tiles::rows;

/// A memory of `2^bits` elements in any order that is linear.
fn memory(source: &mut SplitMix64, bits: u32) -> MemoryLayout {
    let columns = random(source, 0, 0, bits, 0, 3 * bits as usize);
    let mut ins = Space::default();
    ins.push(Dim::OFFSET, bits).expect("a dim");
    let linear = LinearLayout::from_columns(ins, columns.outs().clone(), columns.columns());
    MemoryLayout::linear(linear.expect("as many columns"))
}

fn taken(accessors: &[Accessor], memory: &MemoryLayout, bits: u32, context: PlanContext<'_>) -> u64 {
    let of =
        |one: &Accessor| access_shared(&one.layout, memory, bits, one.direction, context).expect("a plan").wavefronts();
    accessors.iter().map(|accessor| accessor.weight * of(accessor)).sum()
}

/// The choice, executed, and no worse than without rows.
fn chosen(accessors: &[Accessor], bits: u32, context: PlanContext<'_>) -> MemoryChoice {
    let choice = choose_shared_layout(accessors, bits, &Constraints::default(), context).expect("a choice");
    choice.candidates.iter().for_each(|candidate| check(candidate, accessors, bits, context));
    let plain = choose_shared_layout(accessors, bits, &Constraints::default(), context.target).expect("a choice");
    assert!(choice.chosen().wavefronts() <= plain.chosen().wavefronts() && choice.lower_bound <= plain.lower_bound);
    choice
}

#[test]
fn no_memory_is_below_the_bound_or_better_than_the_choice() {
    let (target, rows) = (machine(), rows());
    let context = PlanContext::of(&target).with_instructions(&rows);
    let mut source = SplitMix64::new(23);
    let mut by_rows = 0;
    for (bits, warp_bits, copies, mixes) in [(5, 0, 0, 0), (6, 0, 0, 0), (6, 0, 0, 2), (6, 1, 0, 1), (6, 1, 2, 0)] {
        for element_bits in [8, 16, 32] {
            for directions in [[Direction::Store, Direction::Load], [Direction::Load, Direction::Load]] {
                let of = |direction| Accessor {
                    direction,
                    ..Accessor::store(random(&mut source, 3, warp_bits, bits, copies, mixes))
                };
                let accessors = directions.map(of);
                let choice = chosen(&accessors, element_bits, context);
                by_rows += choice.chosen().accessors.iter().filter(|stats| stats.instruction.is_some()).count();
                for _ in 0..40 {
                    let other = taken(&accessors, &memory(&mut source, bits), element_bits, context);
                    assert!(choice.lower_bound <= other && choice.chosen().wavefronts() <= other, "{accessors:?}");
                }
            }
        }
    }
    assert!(by_rows > 0, "rows are used somewhere");
}

/// Columns of 16-bit elements for each lane, as `load_columns` takes them from rows, which are stored by
/// rows: neither side takes more than its bytes do, while without the row one of them must.
#[test]
fn a_transposing_row_frees_both_sides() {
    let (target, rows) = (machine(), rows());
    let context = PlanContext::of(&target).with_instructions(&rows);
    let stored = layout(&[1, 2, 4, 8, 16, 32], 3, 0, 6);
    let loaded = layout(&[8, 16, 32, 4, 1, 2], 3, 0, 6);
    let accessors = [Accessor::store(stored), Accessor::load(loaded)];
    let choice = chosen(&accessors, 16, context);
    let stats = &choice.chosen().accessors;
    // 128 bytes are four wavefronts of 32.
    let found: Vec<_> = stats.iter().map(|f| (f.wavefronts, f.excess, f.instruction.as_deref())).collect();
    assert_eq!(found, [(4, 0, None), (4, 0, Some("load_columns"))]);
    assert_eq!(choice.chosen().memory.alignment, Some(16), "the slots of the row, or the widest stores");
    let plain = choose_shared_layout(&accessors, 16, &Constraints::default(), &target).expect("a choice");
    assert!(plain.chosen().wavefronts() > choice.chosen().wavefronts(), "{:?}", plain.chosen().accessors);
}

/// Warps that hold the same store a share each, and the bound knows it.
#[test]
fn warps_that_hold_the_same_share_stores() {
    let target = machine();
    let stored = layout(&[1, 2, 4, 8, 16, 0, 32], 3, 2, 6);
    let loaded = layout(&[4, 8, 1, 2, 16, 32, 0], 3, 2, 6);
    let accessors = [Accessor::store(stored), Accessor::load(loaded)];
    let choice = chosen(&accessors, 32, PlanContext::of(&target));
    // Two warps have the same 32 words, and each stores 16 of them: 64 bytes, two wavefronts.
    assert_eq!(choice.chosen().accessors[0].wavefronts, 2);
    assert_eq!((choice.lower_bound, choice.gap()), (choice.chosen().wavefronts(), 0));
}

/// A copy from global memory writes by itself: of the same layout, stores use a row and it does not.
#[test]
fn copies_use_no_rows() {
    let (target, rows) = (machine(), rows());
    let context = PlanContext::of(&target).with_instructions(&rows);
    let columns = layout(&[8, 16, 32, 4, 1, 2], 3, 0, 6);
    let copy = ConsecutiveCopy { global: GlobalTensor::row_major(&[64], 16), access_bits: 16 };
    let stored = chosen(&[Accessor::store(columns.clone())], 16, context);
    let copied = chosen(&[Accessor::store(columns).copied(copy)], 16, context);
    let by = |choice: &MemoryChoice| choice.chosen().accessors[0].instruction.clone();
    assert_eq!((by(&stored).is_some(), by(&copied)), (true, None));
    // Eight accesses of two bytes a lane; stores take a wavefront for each 32 of 128 bytes.
    assert_eq!((stored.chosen().wavefronts(), copied.chosen().wavefronts()), (4, 8));
}

/// Wavefronts that are allowed are as good as none, so the simplest layout wins.
#[test]
fn allowed_wavefronts_leave_the_simplest_layout() {
    let target = machine();
    let accessors = [
        Accessor::store(layout(&[1, 2, 4, 8, 16, 32], 3, 0, 6)),
        Accessor::load(layout(&[8, 16, 32, 1, 2, 4], 3, 0, 6)),
    ];
    let kind = |excess| {
        let constraints = Constraints { excess, ..Constraints::default() };
        choose_shared_layout(&accessors, 32, &constraints, &target).expect("a choice").chosen().kind
    };
    assert_eq!(kind(1 << 20), Kind::Plain);
    assert_ne!(kind(0), Kind::Plain);
}
