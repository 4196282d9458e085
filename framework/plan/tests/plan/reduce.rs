//! Tests of reductions on the small test target: every lane of the slice of the source's layout holds the sum along the
//! axis. The executed counts equal those of the plan, which are not below its lower bound.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::{LANE_BITS, layout, target_with_xor_shuffles, test_target};
use tilewright_kernel::Counts;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, LinearLayout, parse_family_spec};
use tilewright_plan::movement::{MovementError, ReductionPlan, plan_reduction, reduction_candidates};
use tilewright_target::TargetDescription;
use tilewright_verify::{build_reduction_case, check_emulated};

fn check(src: &LinearLayout, axis: Dim, bits: &[u32]) -> ReductionPlan {
    check_on(&target_with_xor_shuffles(&[1, 4]), src, axis, bits);
    check_on(&test_target(), src, axis, bits)
}

/// Checks every candidate for a reduction and returns the best.
fn check_on(target: &TargetDescription, src: &LinearLayout, axis: Dim, bits: &[u32]) -> ReductionPlan {
    let candidates = reduction_candidates(src, axis, bits, target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    for reduction in &candidates {
        if let Err(wrong) =
            build_reduction_case((src, axis), bits, reduction, target).and_then(|case| check_emulated(&case, target))
        {
            let (halving, partials, passes) = (
                reduction.halving_lane_bits(),
                reduction.loading_lane_bits(),
                1 + u32::from(reduction.broadcasts_results()),
            );
            panic!("{wrong}\n{halving} lanes halve, {partials} read, {passes} trips along {axis} of\n{src}");
        }
    }
    let first = candidates.into_iter().next().expect("a way");
    let best = plan_reduction(src, axis, bits, target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    assert_eq!((best.stats.counts, best.stats.cost), (first.stats.counts, first.stats.cost), "along {axis} of\n{src}");
    first
}

#[derive(Debug, Clone)]
struct ReductionInput {
    src: LinearLayout,
    axis: Dim,
    bits: Vec<u32>,
}

/// Generates layouts of three axes: each step along an axis (a power of two) is the basis of a random position bit. The
/// other position bits number replicas: their bases are zero, or equal the basis of another position bit.
fn problems() -> impl Strategy<Value = ReductionInput> {
    let sizes = (0u32..4, 0u32..4, 0u32..3);
    (sizes, 0usize..3, 0usize..3, 0usize..3).prop_flat_map(|(sizes, warp_bits, spare, axis)| {
        let sizes = [sizes.0, sizes.1, sizes.2];
        let units: Vec<(usize, u64)> =
            (0..3).flat_map(|axis| (0..sizes[axis]).map(move |bit| (axis, 1u64 << bit))).collect();
        let input_bits = (units.len() + spare).max(LANE_BITS + warp_bits);
        let copies = prop::collection::vec(prop::option::weighted(0.4, any::<prop::sample::Index>()), input_bits);
        let order = Just((0..input_bits).collect::<Vec<_>>()).prop_shuffle();
        let widths = prop::collection::vec(prop::sample::select(vec![8u32, 16, 32, 64]), 1..3);
        (order, copies, widths).prop_map(move |(order, copies, bits)| {
            let mut columns = vec![(0usize, 0u64); input_bits];
            for (at, &input_bit) in order.iter().enumerate() {
                columns[input_bit] = match units.get(at) {
                    Some(&unit) => unit,
                    None => copies[input_bit].filter(|_| !units.is_empty()).map_or((0, 0), |copy| *copy.get(&units)),
                };
            }
            ReductionInput { src: layout(&columns, sizes, warp_bits), axis: Dim::tensor(axis), bits }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_lane_of_the_slice_holds_the_sum(problem in problems()) {
        let plan = check(&problem.src, problem.axis, &problem.bits);
        if plan.stats.above_bound.is_none() {
            prop_assert!(plan.stats.counts.shuffles <= plan.stats.bound.shuffles);
            prop_assert!(plan.stats.counts.wavefronts_stored <= plan.stats.bound.wavefronts_stored);
        }
    }
}

/// Returns a blocked layout on 8 lanes, the columns fastest.
fn blocked(shape: [u64; 2], size: [u64; 2], lanes: [u64; 2], warps: [u64; 2]) -> LinearLayout {
    let text = format!(
        "#ttg.blocked<{{sizePerThread = {size:?}, threadsPerWarp = {lanes:?}, warpsPerCTA = {warps:?}, order = [1, 0]}}>"
    );
    let spec = parse_family_spec(&text).expect("a family");
    NeutralFamilies.resolve(&spec, &shape, &NeutralFamilies).expect("a layout").linear().clone()
}

#[test]
fn an_axis_within_registers_is_free() {
    let plan = check(&blocked([8, 4], [1, 4], [8, 1], [1, 1]), Dim::tensor(1), &[32]);
    assert_eq!((plan.stats.counts, plan.stats.shared_bytes), (Counts::default(), 0));
    assert_eq!(plan.stats.above_bound, None);
}

#[test]
fn an_axis_over_lanes_takes_one_shuffle_a_doubling() {
    let plan = check(&blocked([1, 8], [1, 1], [1, 8], [1, 1]), Dim::tensor(1), &[32]);
    assert_eq!(plan.stats.counts, Counts { shuffles: 3, ..Counts::default() });
    assert_eq!(plan.stats.above_bound, None);
    // Two 16-bit results share a word, so they take one shuffle in each step.
    let plan = check(&blocked([2, 8], [2, 1], [1, 8], [1, 1]), Dim::tensor(1), &[16]);
    assert_eq!(plan.stats.counts, Counts { shuffles: 3, ..Counts::default() });
}

#[test]
fn lanes_that_differ_by_a_constant_are_reached_by_it() {
    let src = blocked([1, 8], [1, 1], [1, 8], [1, 1]);
    let cost_on = |target: &TargetDescription, across: u64| {
        let plan = check_on(target, &src, Dim::tensor(1), &[32]);
        assert_eq!(plan.stats.counts, Counts { shuffles: 3, shuffles_xor: across, ..Counts::default() });
        plan.stats.cost
    };
    let cost = |masks: &[u32], across: u64| cost_on(&target_with_xor_shuffles(masks), across);
    // The test target's xor shuffles cost as much as its selects.
    let costs = test_target().costs;
    let saved = costs.shuffle.cycles - costs.select.cycles;
    assert!(saved > 0.0);
    let (none, some, all) = (cost_on(&test_target(), 0), cost(&[1, 4], 2), cost(&[1, 2, 4], 3));
    assert!(none > all && some != none, "{none} {some} {all}");
    // Lanes whose values are summed already have equal values, so a later step may use a mask that includes their bits
    // (such as a mirror of the lanes).
    assert_eq!((cost(&[3], 1), cost(&[1, 3, 7], 3)), (cost(&[2], 1), all));
}

#[test]
fn copies_are_neither_added_twice_nor_stored_twice() {
    // 4 columns over 8 lanes and 2 warps: half of the lanes and one of the warps hold replicas.
    let src = blocked([4, 4], [1, 1], [4, 2], [1, 2]);
    let plan = check(&src, Dim::tensor(1), &[32]);
    // Each warp stores the results of 4 rows once: one store of one wavefront.
    assert_eq!((plan.stats.counts.shared_stores, plan.stats.counts.wavefronts_stored), (1, 1));
    assert_eq!(plan.stats.counts.barriers, 1);
    assert_eq!(plan.stats.shared_bytes, 32);
}

#[test]
fn any_number_of_warps_takes_one_barrier() {
    for warps in [2, 4, 8] {
        let src = blocked([8, 8 * warps], [1, 8], [8, 1], [1, warps]);
        let plan = check(&src, Dim::tensor(1), &[32]);
        assert_eq!((plan.stats.counts.barriers, plan.stats.counts.shuffles), (1, 0), "{warps} warps");
    }
}

#[test]
fn with_many_warps_each_result_is_combined_once_and_broadcast() {
    let of = |warps: u64| {
        // A lane has eight rows; each warp holds a partial result of every row.
        let src = blocked([64, 8 * warps], [8, 8], [8, 1], [1, warps]);
        check(&src, Dim::tensor(1), &[32])
    };
    let (few, many) = (of(2), of(8));
    assert_eq!((few.broadcasts_results(), few.stats.counts.barriers), (false, 1));
    assert_eq!((many.broadcasts_results(), many.stats.counts.barriers), (true, 2));
    // In one pass every lane would load eight partial results of each of its eight results.
    assert!(many.stats.counts.shared_loads < 8 * 8 / 4, "{:?}", many.stats.counts);
}

#[test]
fn tuples_share_the_memory_of_a_block() {
    // Eight warps hold partial results of 64 results for each of six tensors. Together they take 2 KiB a tensor; the
    // block has 8 KiB.
    let src = blocked([64, 64], [8, 8], [8, 1], [1, 8]);
    let most = u64::from(test_target().shared.bytes);
    check(&src, Dim::tensor(1), &[32; 6]);
    for reduction in reduction_candidates(&src, Dim::tensor(1), &[32; 6], &test_target()).expect("ways") {
        assert!(reduction.stats.shared_bytes <= most, "{} bytes", reduction.stats.shared_bytes);
    }
}

#[test]
fn invalid_inputs_are_errors() {
    let target = test_target();
    let src = blocked([8, 8], [1, 8], [8, 1], [1, 1]);
    assert!(matches!(plan_reduction(&src, Dim::tensor(2), &[32], &target), Err(MovementError::Layout(_))));
    assert!(matches!(plan_reduction(&src, Dim::tensor(1), &[], &target), Err(MovementError::NoTensors)));
    assert!(matches!(plan_reduction(&src, Dim::tensor(1), &[12], &target), Err(MovementError::ElementBits(12))));
    let diagonal = LinearLayout::from_bases(
        &[(Dim::REGISTER, vec![vec![1, 1], vec![0, 1]]), (Dim::LANE, vec![vec![0, 0]; 3]), (Dim::WARP, vec![])],
        &[(Dim::tensor(0), 2), (Dim::tensor(1), 2)],
    )
    .expect("sizes fit");
    let error = plan_reduction(&diagonal, Dim::tensor(1), &[32], &target).expect_err("mixed");
    assert_eq!(
        error.to_string(),
        "basis 0 of register moves along dim1 and along other axes at once: convert to a layout whose bases move along one axis each"
    );
}
