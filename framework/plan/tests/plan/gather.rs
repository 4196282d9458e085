//! Gathers on an invented machine: every place holds the element that its index names, and what was
//! executed is what the plan counted.

use tilewright_testkit::machines;

use machines::{LANE_BITS, layout, machine};
use proptest::prelude::*;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{Gather, MovementError, Path, gather};
use tilewright_verify::{check_emulated, gather_case};

fn check(src: &LinearLayout, indices: &LinearLayout, axis: Dim, bits: u32) -> Gather {
    let target = machine();
    let plan = gather(src, indices, axis, bits, &target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    if let Err(wrong) =
        gather_case(([src, indices], axis), bits, &plan, &target).and_then(|case| check_emulated(&case, &target))
    {
        panic!("{} of {bits} bits: {wrong}\nalong {axis} of\n{src}\nby\n{indices}", plan.path);
    }
    plan
}

#[derive(Debug, Clone)]
struct Question {
    src: LinearLayout,
    indices: LinearLayout,
    axis: Dim,
    bits: u32,
}

/// A layout of tensors of these sizes: each unit somewhere, zeros elsewhere.
fn layouts(sizes: [u32; 3], warp_bits: usize, spare: usize) -> impl Strategy<Value = LinearLayout> {
    let units: Vec<(usize, u64)> =
        (0..3).flat_map(|axis| (0..sizes[axis]).map(move |bit| (axis, 1u64 << bit))).collect();
    let slots = (units.len() + spare).max(LANE_BITS + warp_bits);
    let order = prop_oneof![Just((0..slots).collect::<Vec<_>>()), Just((0..slots).collect::<Vec<_>>()).prop_shuffle()];
    order.prop_map(move |order| {
        let mut columns = vec![(0usize, 0u64); slots];
        order.iter().zip(&units).for_each(|(&slot, &unit)| columns[slot] = unit);
        layout(&columns, sizes, warp_bits)
    })
}

fn problems() -> impl Strategy<Value = Question> {
    let sizes = (0u32..4, 0u32..4, 0u32..3);
    (sizes, 0u32..4, 0usize..3, 0usize..3, 0usize..2).prop_flat_map(|(sizes, required, warp_bits, axis, spare)| {
        let sizes = [sizes.0, sizes.1, sizes.2];
        let mut result = sizes;
        result[axis] = required;
        let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
        (layouts(sizes, warp_bits, spare), layouts(result, warp_bits, spare), widths)
            .prop_map(move |(src, indices, bits)| Question { src, indices, axis: Dim::tensor(axis), bits })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_place_holds_the_element_that_its_index_names(problem in problems()) {
        check(&problem.src, &problem.indices, problem.axis, problem.bits);
    }
}

/// 8 rows of `2^bits` columns: rows in warps and registers, columns in lanes and registers.
fn rows(bits: u32) -> LinearLayout {
    let columns: Vec<_> = (0..bits).map(|bit| (1usize, 1u64 << bit)).collect();
    let rows = [(0usize, 1u64), (0, 2), (0, 4)];
    let (lanes, registers) = columns.split_at(LANE_BITS);
    let columns: Vec<_> = lanes.iter().chain(&rows[..2]).chain(registers).chain(&rows[2..]).copied().collect();
    layout(&columns, [3, bits, 0], 2)
}

#[test]
fn lines_within_lanes_are_exchanged_and_long_ones_go_through_memory() {
    // One register of a line a lane: one exchange for each result.
    let short = check(&rows(3), &rows(3), Dim::tensor(1), 32);
    assert_eq!((short.path, short.stats.counts.exchanges, short.stats.counts.selects), (Path::Shuffle, 2, 0));
    // The exchanges double with the registers of a line for each of twice the results; the loads only
    // double.
    let paths: Vec<Path> = (3..7).map(|bits| check(&rows(bits), &rows(bits), Dim::tensor(1), 32).path).collect();
    assert_eq!(paths.last(), Some(&Path::Shared));
    assert!(paths.is_sorted_by_key(|path| *path == Path::Shared), "{paths:?}");
}

#[test]
fn bad_questions_are_errors() {
    let target = machine();
    let ask = |src: &LinearLayout, indices: &LinearLayout, axis, bits| {
        gather(src, indices, Dim::tensor(axis), bits, &target).expect_err("wrong")
    };
    assert!(matches!(ask(&rows(3), &rows(3), 5, 32), MovementError::Layout(_)));
    assert!(matches!(ask(&rows(3), &rows(4), 0, 32), MovementError::Layout(_)));
    assert!(matches!(ask(&rows(3), &rows(3), 1, 4), MovementError::ElementBits(4)));
}
