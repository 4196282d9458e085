//! Tests that no padding of one or two intervals takes fewer bytes for the required wavefronts, nor fewer wavefronts:
//! all are tried on a small machine.

use tilewright_layout::{Dim, LinearLayout, Padding};
use tilewright_plan::movement::plan_shared_access;
use tilewright_plan::movement::{
    SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout,
};
use tilewright_target::Direction;
use tilewright_verify::{build_shared_load_case, build_shared_store_case, check_emulated};

use super::brute::Accesses;
use super::layouts::{along, plane};
use tilewright_testkit::test_targets::test_target;

/// Returns the offset of each packed element of a matrix; `fast` is the fastest axis in memory.
fn memory_offsets(sizes: [u32; 2], fast: usize, padding: &[Padding]) -> Vec<u64> {
    let offset_of = |element: u64| {
        let coordinates = [element & ((1 << sizes[0]) - 1), element >> sizes[0]];
        let offset = coordinates[fast] + (coordinates[1 - fast] << sizes[fast]);
        offset + padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>()
    };
    (0..1u64 << (sizes[0] + sizes[1])).map(offset_of).collect()
}

/// Returns the fewest wavefronts over all paddings (fewer than `goal` count as `goal`), then the fewest bytes.
fn best(accesses: &[Accesses], sizes: [u32; 2], element_bits: u32, goal: u64) -> (u64, u64) {
    let (bits, target) = (sizes[0] + sizes[1], test_target());
    let line = u64::from(8 * 32 / element_bits);
    let singles: Vec<Padding> =
        (0..bits).flat_map(|bit| (1..=line).map(move |padding| Padding { interval: 1 << bit, padding })).collect();
    let pairs = singles.iter().flat_map(|a| singles.iter().map(move |b| vec![*a, *b]));
    let all = singles.iter().map(|p| vec![*p]).chain(pairs.filter(|pair| pair[0].interval < pair[1].interval));
    let score = |padding: Vec<Padding>| {
        let of = |fast| {
            let memory_offsets = memory_offsets(sizes, fast, &padding);
            let taken: u64 = accesses.iter().map(|a| a.wavefronts(&memory_offsets, element_bits, &target)).sum();
            (taken.max(goal), (memory_offsets.iter().max().expect("elements") + 1) * u64::from(element_bits / 8))
        };
        of(0).min(of(1))
    };
    all.map(score).min().expect("paddings")
}

fn check(sizes: [u32; 2], element_bits: u32, excess: u64, accessors: &[(LinearLayout, Direction)]) -> (u64, u64) {
    let requested: Vec<SharedMemoryAccessor> = (accessors.iter())
        .map(|(layout, direction)| SharedMemoryAccessor {
            direction: *direction,
            ..SharedMemoryAccessor::store(layout.clone())
        })
        .collect();
    let constraints =
        SharedLayoutSearchOptions { excess, ..SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Padding) };
    let target = test_target();
    let choice = choose_shared_layout(&requested, element_bits, &constraints, &target).expect("a choice");
    let chosen = choice.chosen();
    let accesses: Vec<Accesses> =
        accessors.iter().map(|(layout, direction)| Accesses::of(layout, *direction)).collect();
    let goal = choice.lower_bound + excess;
    let found = (chosen.weighted_wavefronts().max(goal), chosen.bytes);
    assert_eq!(found, best(&accesses, sizes, element_bits, goal), "{:?}", chosen.memory.padding);
    for (at, (layout, direction)) in accessors.iter().enumerate() {
        let plan = plan_shared_access(layout, &chosen.memory, element_bits, *direction, &target).expect("a plan");
        let executed = match direction {
            Direction::Store => {
                let report = build_shared_store_case(layout, &chosen.memory, element_bits, &plan)
                    .and_then(|case| check_emulated(&case, &target));
                report.expect("memory holds the tensor").counts.wavefronts_stored
            }
            Direction::Load => {
                let report = build_shared_load_case(layout, &chosen.memory, element_bits, &plan)
                    .and_then(|case| check_emulated(&case, &target));
                report.expect("registers hold the tensor").counts.wavefronts_loaded
            }
        };
        assert_eq!(executed, chosen.accessors[at].wavefronts, "accessor {at}");
    }
    found
}

/// Returns a store whose lanes run along rows, and a load whose lanes run along columns.
fn crossed(sizes: [u32; 2], vector: u32) -> Vec<(LinearLayout, Direction)> {
    let rows = plane(
        sizes,
        &[along(1, 0..vector), along(0, 3 - (sizes[1] - vector).min(3)..sizes[0])].concat(),
        &[along(1, vector..sizes[1]), along(0, 0..3 - (sizes[1] - vector).min(3))].concat(),
        &[],
    );
    let columns = plane(sizes, &along(1, 0..sizes[1]), &along(0, 0..sizes[0]), &[]);
    vec![(rows, Direction::Store), (columns, Direction::Load)]
}

#[test]
fn every_padding_of_words_was_tried() {
    // 8x8 words: padding of one word after each row of the banks would suffice for single words, but loads of columns
    // move four words at a time.
    assert!(check([3, 3], 32, 0, &crossed([3, 3], 0)).1 < (64 + 7) * 4);
    check([3, 2], 32, 0, &crossed([3, 2], 1));
    check([3, 2], 32, 0, &crossed([3, 2], 0));
}

#[test]
fn every_padding_of_elements_narrower_than_a_bank_was_tried() {
    check([3, 3], 16, 0, &crossed([3, 3], 1));
    check([3, 2], 16, 0, &crossed([3, 2], 0));
}

#[test]
fn conflicts_that_are_allowed_save_bytes() {
    let none = check([3, 3], 32, 0, &crossed([3, 3], 0));
    let some = check([3, 3], 32, 8, &crossed([3, 3], 0));
    assert!(some.0 > none.0 && some.1 < none.1, "{none:?} {some:?}");
}

#[test]
fn several_readers() {
    let mut accessors = crossed([3, 3], 0);
    let blocks = [along(1, 0..1), along(0, 0..2)].concat();
    accessors.push((plane([3, 3], &[along(1, 1..3), along(0, 2..3)].concat(), &blocks, &[]), Direction::Load));
    check([3, 3], 32, 0, &accessors);
}

#[test]
fn bytes_have_a_limit() {
    let accessors = crossed([3, 3], 0);
    let requested: Vec<SharedMemoryAccessor> = (accessors.iter())
        .map(|(layout, direction)| SharedMemoryAccessor {
            direction: *direction,
            ..SharedMemoryAccessor::store(layout.clone())
        })
        .collect();
    let within = |bytes| {
        let constraints = SharedLayoutSearchOptions {
            max_bytes: Some(bytes),
            ..SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Padding)
        };
        choose_shared_layout(&requested, 32, &constraints, &test_target())
    };
    let less = within(270).expect("fewer gaps");
    assert!(less.chosen().bytes <= 270 && less.wavefronts_above_bound() > 0);
    let error = within(256).expect_err("not a byte for gaps").to_string();
    assert!(error.contains("padding: no layout of this kind fits"), "{error}");
    assert!(requested[0].layout.ins().contains(Dim::LANE));
}
