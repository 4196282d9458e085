//! Tests of gathers on the small test target: every position holds the element that its index selects, and the executed
//! counts equal those of the plan.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::{LANE_BITS, layout, test_target};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    ConversionKind, GatherPlan, MovementError, PlanContext, gather_candidates, plan_gather,
};
use tilewright_verify::{build_gather_case, check_emulated};

fn check(src: &LinearLayout, indices: &LinearLayout, axis: Dim, bits: u32) -> GatherPlan {
    let target = test_target();
    let plan = plan_gather(src, indices, axis, bits, &target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    if let Err(wrong) =
        build_gather_case(([src, indices], axis), bits, &plan, &target).and_then(|case| check_emulated(&case, &target))
    {
        panic!("{} of {bits} bits: {wrong}\nalong {axis} of\n{src}\nby\n{indices}", plan.path);
    }
    plan
}

#[derive(Debug, Clone)]
struct GatherInput {
    src: LinearLayout,
    indices: LinearLayout,
    axis: Dim,
    bits: u32,
}

/// Generates layouts of tensors of these sizes: each step along one axis (a power of two) is the basis of a random
/// position bit; other position bits have zero bases.
fn layouts(sizes: [u32; 3], warp_bits: usize, spare: usize) -> impl Strategy<Value = LinearLayout> {
    let units: Vec<(usize, u64)> =
        (0..3).flat_map(|axis| (0..sizes[axis]).map(move |bit| (axis, 1u64 << bit))).collect();
    let input_bits = (units.len() + spare).max(LANE_BITS + warp_bits);
    let order = prop_oneof![
        Just((0..input_bits).collect::<Vec<_>>()),
        Just((0..input_bits).collect::<Vec<_>>()).prop_shuffle()
    ];
    order.prop_map(move |order| {
        let mut columns = vec![(0usize, 0u64); input_bits];
        order.iter().zip(&units).for_each(|(&input_bit, &unit)| columns[input_bit] = unit);
        layout(&columns, sizes, warp_bits)
    })
}

fn problems() -> impl Strategy<Value = GatherInput> {
    let sizes = (0u32..4, 0u32..4, 0u32..3);
    (sizes, 0u32..4, 0usize..3, 0usize..3, 0usize..2).prop_flat_map(|(sizes, required, warp_bits, axis, spare)| {
        let sizes = [sizes.0, sizes.1, sizes.2];
        let mut result = sizes;
        result[axis] = required;
        let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
        (layouts(sizes, warp_bits, spare), layouts(result, warp_bits, spare), widths)
            .prop_map(move |(src, indices, bits)| GatherInput { src, indices, axis: Dim::tensor(axis), bits })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_position_has_the_element_at_its_index(problem in problems()) {
        check(&problem.src, &problem.indices, problem.axis, problem.bits);
    }
}

/// Returns a layout of 8 rows of `2^bits` columns: rows in warps and registers, columns in lanes and registers.
fn rows(bits: u32) -> LinearLayout {
    let columns: Vec<_> = (0..bits).map(|bit| (1usize, 1u64 << bit)).collect();
    let rows = [(0usize, 1u64), (0, 2), (0, 4)];
    let (lanes, registers) = columns.split_at(LANE_BITS);
    let columns: Vec<_> = lanes.iter().chain(&rows[..2]).chain(registers).chain(&rows[2..]).copied().collect();
    layout(&columns, [3, bits, 0], 2)
}

#[test]
fn short_gathers_use_shuffles_and_long_ones_shared_memory() {
    // One register of a line in a lane: one shuffle for each result.
    let short = check(&rows(3), &rows(3), Dim::tensor(1), 32);
    assert_eq!((short.path, short.stats.counts.shuffles, short.stats.counts.selects), (ConversionKind::Shuffle, 2, 0));
    // If a line is twice as long, each of twice the results needs twice the shuffles; the number of loads only doubles.
    let paths: Vec<ConversionKind> =
        (3..7).map(|bits| check(&rows(bits), &rows(bits), Dim::tensor(1), 32).path).collect();
    assert_eq!(paths.last(), Some(&ConversionKind::Shared));
    assert!(paths.is_sorted_by_key(|path| *path == ConversionKind::Shared), "{paths:?}");
}

/// Checks lines within one lane, and lines within a warp that are too long for shuffles: neither needs a barrier of
/// the block.
#[test]
fn lines_within_lanes_or_warps_need_no_block_barrier() {
    let in_lanes: Vec<_> = [(0usize, 1u64), (0, 2), (0, 4), (1, 1), (1, 2)].to_vec();
    let own = layout(&in_lanes, [3, 2, 0], 0);
    let plan = check(&own, &own, Dim::tensor(1), 64);
    let counts = plan.stats.counts;
    assert_eq!((plan.path, counts.shuffles, counts.selects), (ConversionKind::Register, 0, 4 * 3));
    let long = check(&rows(6), &rows(6), Dim::tensor(1), 32);
    assert_eq!((long.path, long.stats.counts.barriers), (ConversionKind::Shared, 0));
    let across = check(&across_warps(5), &across_warps(5), Dim::tensor(1), 32);
    assert_eq!((across.path, across.stats.counts.barriers), (ConversionKind::Shared, 1));
}

#[test]
fn invalid_inputs_are_errors() {
    let target = test_target();
    let ask = |src: &LinearLayout, indices: &LinearLayout, axis, bits| {
        plan_gather(src, indices, Dim::tensor(axis), bits, &target).expect_err("wrong")
    };
    assert!(matches!(ask(&rows(3), &rows(3), 5, 32), MovementError::Layout(_)));
    assert!(matches!(ask(&rows(3), &rows(4), 0, 32), MovementError::Layout(_)));
    assert!(matches!(ask(&rows(3), &rows(3), 1, 4), MovementError::ElementBits(4)));
}

/// Checks all candidates of random gathers with little shared memory: rounds, and conversions before shuffles.
#[test]
fn short_memory_takes_rounds_or_a_conversion() {
    let target = test_target();
    let (mut rounds, mut mixed) = (0, 0);
    for (src, indices, axis) in [
        (rows(5), rows(5), 0),
        (rows(6), rows(6), 1),
        (rows(4), across_warps(4), 1),
        (across_warps(4), rows(4), 1),
        (across_warps(5), across_warps(5), 1),
        (across_warps(5), across_warps(5), 0),
    ] {
        for bytes in [64, 128, 256, 512, 1024] {
            let context = PlanContext::from(&target).with_scratch_bytes(bytes);
            let (plans, _) = gather_candidates(&src, &indices, Dim::tensor(axis), 32, context).expect("a plan");
            for plan in plans {
                assert!(plan.stats.shared_bytes <= bytes, "{} of {bytes}", plan.stats.shared_bytes);
                let case = build_gather_case(([&src, &indices], Dim::tensor(axis)), 32, &plan, &target);
                case.and_then(|case| check_emulated(&case, &target))
                    .unwrap_or_else(|wrong| panic!("{} in {bytes} bytes: {wrong}\n{src}\n{indices}", plan.path));
                let barriers = plan.stats.counts.barriers + plan.stats.counts.warp_barriers;
                rounds += usize::from(plan.path == ConversionKind::Shared && barriers > 1);
                mixed += usize::from(plan.path == ConversionKind::Mixed);
            }
        }
    }
    assert!(rounds >= 5 && mixed >= 5, "{rounds} in rounds, {mixed} by a conversion");
}

/// Returns a layout of 8 rows of `2^bits` columns whose columns are in warps and registers, and rows in lanes.
fn across_warps(bits: u32) -> LinearLayout {
    let columns: Vec<_> = (0..bits).map(|bit| (1usize, 1u64 << bit)).collect();
    let rows = [(0usize, 1u64), (0, 2), (0, 4)];
    let (warps, registers) = columns.split_at(2);
    let columns: Vec<_> = rows.iter().chain(warps).chain(registers).copied().collect();
    layout(&columns, [3, bits, 0], 2)
}
