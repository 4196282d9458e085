//! Tests of scans on the small test target: every element is combined with all earlier ones, in order, and the executed
//! counts equal those of the plan.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::{LANE_BITS, layout, target_with_xor_shuffles, test_target};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{MovementError, ScanDirection, ScanPlan, plan_scan};
use tilewright_target::TargetDescription;
use tilewright_verify::{build_scan_case, check_emulated};

fn check(src: &LinearLayout, axis: Dim, bits: &[u32], direction: ScanDirection) -> ScanPlan {
    check_on(&target_with_xor_shuffles(&[1, 4]), src, axis, bits, direction);
    check_on(&test_target(), src, axis, bits, direction)
}

fn check_on(
    target: &TargetDescription,
    src: &LinearLayout,
    axis: Dim,
    bits: &[u32],
    direction: ScanDirection,
) -> ScanPlan {
    let plan = plan_scan(src, axis, bits, direction, target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    if let Err(wrong) =
        build_scan_case((src, axis), bits, (&plan, direction), target).and_then(|case| check_emulated(&case, target))
    {
        panic!("{wrong}\n{direction:?} along {axis} of\n{src}");
    }
    plan
}

#[derive(Debug, Clone)]
struct ScanInput {
    src: LinearLayout,
    axis: Dim,
    bits: Vec<u32>,
    direction: ScanDirection,
}

/// Generates layouts of three axes: each step along an axis (a power of two) is the basis of a random position bit; the
/// other position bits have zero bases.
fn problems() -> impl Strategy<Value = ScanInput> {
    let sizes = (0u32..5, 0u32..4, 0u32..3);
    (sizes, 0usize..3, 0usize..3, 0usize..3).prop_flat_map(|(sizes, warp_bits, spare, axis)| {
        let sizes = [sizes.0, sizes.1, sizes.2];
        let units: Vec<(usize, u64)> =
            (0..3).flat_map(|axis| (0..sizes[axis]).map(move |bit| (axis, 1u64 << bit))).collect();
        let input_bits = (units.len() + spare).max(LANE_BITS + warp_bits);
        let order = Just((0..input_bits).collect::<Vec<_>>()).prop_shuffle();
        let width = prop::sample::select(vec![8u32, 16, 32, 64]);
        let direction = prop::sample::select(vec![ScanDirection::Forward, ScanDirection::Reverse]);
        (order, width, 1usize..3, direction).prop_map(move |(order, width, tensors, direction)| {
            let mut columns = vec![(0usize, 0u64); input_bits];
            order.iter().zip(&units).for_each(|(&input_bit, &unit)| columns[input_bit] = unit);
            let bits = vec![width; tensors];
            ScanInput { src: layout(&columns, sizes, warp_bits), axis: Dim::tensor(axis), bits, direction }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_element_holds_all_before_it(problem in problems()) {
        check(&problem.src, problem.axis, &problem.bits, problem.direction);
    }
}

/// Returns the layout of one axis of `2^bits` elements: registers first, then lanes, then warps.
fn line(registers: usize, warp_bits: usize) -> LinearLayout {
    let bits = registers + LANE_BITS + warp_bits;
    let unit = |bit: usize| (0, 1u64 << bit);
    let threads = (registers..bits).map(unit);
    let columns: Vec<_> = threads.chain((0..registers).map(unit)).collect();
    layout(&columns, [bits as u32, 0, 0], warp_bits)
}

#[test]
fn a_line_of_lanes_takes_one_shuffle_a_doubling() {
    let plan = check(&line(0, 0), Dim::tensor(0), &[32], ScanDirection::Forward);
    assert_eq!(plan.stats.counts, Counts { shuffles: 3, selects: 3, ..Counts::default() });
    assert_eq!(plan.stats.above_bound, None);
    // Registers below lanes add selects, no shuffles: one total is fetched for all of them.
    let plan = check(&line(2, 0), Dim::tensor(0), &[32], ScanDirection::Reverse);
    assert_eq!((plan.stats.counts.shuffles, plan.stats.counts.wavefronts_stored), (3, 0));
}

#[test]
fn the_first_step_of_a_line_of_lanes_is_by_a_constant() {
    for direction in [ScanDirection::Forward, ScanDirection::Reverse] {
        let plan = check_on(&target_with_xor_shuffles(&[1, 2, 4]), &line(0, 0), Dim::tensor(0), &[32], direction);
        assert_eq!(plan.stats.counts, Counts { shuffles: 3, shuffles_xor: 1, selects: 3, ..Counts::default() });
    }
}

#[test]
fn a_scan_across_warps_takes_one_barrier() {
    let plan = check(&line(1, 2), Dim::tensor(0), &[32], ScanDirection::Forward);
    assert_eq!(plan.stats.counts.barriers, 1);
    assert_eq!(plan.stats.counts.wavefronts_stored, 1);
}

#[test]
fn invalid_inputs_are_errors() {
    let target = test_target();
    let ask = |src: &LinearLayout, axis, bits: &[u32]| {
        plan_scan(src, Dim::tensor(axis), bits, ScanDirection::Forward, &target).expect_err("wrong")
    };
    assert!(matches!(ask(&line(1, 0), 5, &[32]), MovementError::Layout(_)));
    assert!(matches!(ask(&line(1, 0), 0, &[]), MovementError::NoTensors));
    let twice = layout(&[(0, 1), (0, 2), (0, 1)], [2, 0, 0], 0);
    assert!(matches!(ask(&twice, 0, &[32]), MovementError::MixedAxis { .. }));
}
