//! Tests of conversions across the blocks of a cluster on the small test target: every block holds the elements of the
//! destination layout. The executed counts equal those of the plan, which are not below its lower bound.

use crate::conversions::mixed;
use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::{LANE_BITS, test_target};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::build_conversion_kernel;
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionKind, ConversionPlan, PlanContext, price_counts_in_wavefronts};
use tilewright_verify::{build_conversion_case, check_emulated};

/// Returns a layout of `2^bits` elements, in rows of four, by the columns of its registers, lanes, warps and blocks.
fn layout(bits: u32, [registers, lanes, warps, blocks]: [&[u64]; 4]) -> LinearLayout {
    let bases = |columns: &[u64]| columns.iter().map(|&c| vec![c & 3, c >> 2]).collect::<Vec<_>>();
    let dims = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps), (Dim::BLOCK, blocks)];
    let dims = dims.map(|(dim, columns)| (dim, bases(columns)));
    LinearLayout::from_bases(&dims, &[(Dim::tensor(0), 4), (Dim::tensor(1), 1 << (bits - 2))]).expect("sizes fit")
}

/// Checks every candidate for a conversion, and returns the plans.
fn check_all(src: &LinearLayout, dst: &LinearLayout, bits: u32, context: PlanContext<'_>) -> Vec<ConversionPlan> {
    let (plans, rejected) = movement::conversion_candidates(src, dst, bits, context).expect("the question is sound");
    assert!(!plans.is_empty(), "{rejected:?}\nfrom\n{src}\nto\n{dst}");
    for plan in &plans {
        if let Err(wrong) =
            build_conversion_case([src, dst], bits, plan, context).and_then(|case| check_emulated(&case, context))
        {
            panic!("{} of {bits} bits: {wrong}\nfrom\n{src}\nto\n{dst}", plan.path);
        }
    }
    plans
}

fn only(src: &LinearLayout, dst: &LinearLayout, bits: u32) -> ConversionPlan {
    let plans = check_all(src, dst, bits, PlanContext::new(&test_target()));
    assert_eq!(plans.len(), 1, "one candidate crosses blocks");
    plans.into_iter().next().expect("a plan")
}

#[derive(Debug, Clone)]
struct Pair {
    src: LinearLayout,
    dst: LinearLayout,
    bits: u32,
}

/// Generates two layouts of one tensor in two or four blocks. Bits of the tensor are at any positions; positions
/// without a bit replicate: they are zero or, with `repeats`, have the element of another position.
fn pairs(column_additions: usize, repeats: bool) -> impl Strategy<Value = Pair> {
    (3usize..9, 0usize..3, 1usize..3, 0usize..3, 0usize..3).prop_flat_map(
        move |(bits, warp_bits, block_bits, spare_src, spare_dst)| {
            let threads = LANE_BITS + warp_bits + block_bits;
            let input_bits = |spare: usize| (bits + spare).max(threads);
            let order = |count: usize| Just((0..count).collect::<Vec<_>>()).prop_shuffle();
            let steps = || prop::collection::vec((0usize..9, 0usize..9), 0..=column_additions);
            let others = || prop::collection::vec(if repeats { 0u64..256 } else { 0..1 }, threads + 3);
            let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
            let side = |spare| (order(input_bits(spare)), steps(), others());
            (side(spare_src), side(spare_dst), widths).prop_map(move |(src, dst, element)| {
                let of = |(order, steps, others): (Vec<usize>, Vec<(usize, usize)>, Vec<u64>)| {
                    let images = mixed(bits, &steps);
                    let mut columns: Vec<u64> = (0..order.len())
                        .map(|input_bit| others.get(input_bit).copied().unwrap_or(0) & ((1 << bits) - 1))
                        .collect();
                    for (&input_bit, &column) in order.iter().zip(&images) {
                        columns[input_bit] = column;
                    }
                    let (threads, registers) = columns.split_at(threads);
                    let (lanes, rest) = threads.split_at(LANE_BITS);
                    let (warps, blocks) = rest.split_at(warp_bits);
                    layout(bits as u32, [registers, lanes, warps, blocks])
                };
                Pair { src: of(src), dst: of(dst), bits: element }
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layouts_of_clusters_convert(pair in pairs(0, false)) {
        check_all(&pair.src, &pair.dst, pair.bits, PlanContext::new(&test_target()));
    }

    #[test]
    fn layouts_of_clusters_that_add_bits_convert(pair in pairs(6, true)) {
        check_all(&pair.src, &pair.dst, pair.bits, PlanContext::new(&test_target()));
    }

    /// Checks that plans use rounds or the candidate is rejected if there is little scratch memory; the result is never
    /// wrong.
    #[test]
    fn short_scratch_is_respected(pair in pairs(3, true), bytes in prop::sample::select(vec![64u64, 128, 256])) {
        let target = test_target();
        let context = PlanContext::new(&target).with_scratch_bytes(bytes);
        let (plans, _) = movement::conversion_candidates(&pair.src, &pair.dst, pair.bits, context).expect("sound");
        for plan in &plans {
            prop_assert!(plan.stats.shared_bytes <= bytes);
            let proved = build_conversion_case([&pair.src, &pair.dst], pair.bits, plan, context).and_then(|case| check_emulated(&case, context));
            prop_assert!(proved.is_ok(), "{}: {}", plan.path, proved.expect_err("shown"));
        }
    }
}

/// Returns a layout of one warp a block, in two blocks of 16 elements each; the arguments place each of the five bits.
fn of_two_blocks(registers: &[u64], lanes: [u64; 3], block: u64) -> LinearLayout {
    layout(5, [registers, &lanes, &[], &[block]])
}

#[test]
fn a_register_bit_and_the_block_bit_are_swapped() {
    // Each thread has two elements; the conversion moves one of them to the other block.
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), of_two_blocks(&[16], [1, 2, 4], 8));
    let plan = only(&src, &dst, 32);
    let expected = Counts {
        shared_stores: 2,
        shared_loads: 2,
        wavefronts_stored: 2,
        wavefronts_loaded: 2,
        cluster_barriers: 2,
        ..Counts::default()
    };
    assert_eq!((plan.path, plan.stats.counts, plan.cluster_blocks()), (ConversionKind::Cluster, expected, 2));
    assert_eq!((plan.stats.above_bound, plan.stats.shared_bytes), (None, 64));
    assert_eq!(price_counts_in_wavefronts(&plan.stats.counts), 24.0);
}

#[test]
fn loads_go_to_the_own_block_where_it_has_the_element() {
    // The source of register 1 is in the other block for the first block, and in its own memory for the second.
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), of_two_blocks(&[16], [1, 2, 4], 8));
    let plan = only(&src, &dst, 32);
    let text = build_conversion_kernel("k", [&src, &dst], 32, &plan, PlanContext::new(&test_target()))
        .expect("a kernel")
        .to_string();
    assert!(text.contains("lanes 8 warps 1 blocks 2 {"), "{text}");
    // Both blocks hold all elements: no load leaves its block, and only lanes and registers change.
    let copies = |lanes: [u64; 3], registers: &[u64]| layout(5, [registers, &lanes, &[], &[0]]);
    let plans =
        check_all(&copies([1, 2, 4], &[8, 16]), &copies([1, 2, 8], &[4, 16]), 32, PlanContext::new(&test_target()));
    assert!(plans.iter().all(|plan| plan.path != ConversionKind::Cluster && plan.cluster_blocks() == 1));
}

#[test]
fn copies_of_all_blocks_are_shared_out_without_leaving_the_block() {
    // Each block holds all elements and keeps half of them; the half depends on the block's index.
    let (src, dst) = (layout(5, [&[8, 16], &[1, 2, 4], &[], &[0]]), of_two_blocks(&[8], [1, 2, 4], 16));
    let plan = only(&src, &dst, 32);
    assert_eq!((plan.path, plan.cluster_blocks()), (ConversionKind::Shared, 2));
    assert_eq!((plan.stats.counts.cluster_barriers, plan.stats.counts.barriers), (0, 1));
    let text = build_conversion_kernel("k", [&src, &dst], 32, &plan, PlanContext::new(&test_target()))
        .expect("a kernel")
        .to_string();
    assert!(!text.contains("cluster_address") && text.contains("special block"), "{text}");
}

#[test]
fn every_block_gathers_a_tensor_split_over_blocks() {
    // Each block holds one half and needs both: half of the loads access its own memory.
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), layout(5, [&[8, 16], &[1, 2, 4], &[], &[0]]));
    let plan = only(&src, &dst, 32);
    assert_eq!(plan.path, ConversionKind::Cluster);
    // Two elements of a thread are contiguous; four are loaded, in two phases of half the lanes.
    assert_eq!((plan.stats.counts.wavefronts_stored, plan.stats.counts.wavefronts_loaded), (2, 4));
    let text = build_conversion_kernel("k", [&src, &dst], 32, &plan, PlanContext::new(&test_target()))
        .expect("a kernel")
        .to_string();
    // The block determines which of a thread's registers come from its own memory: both groups compute an address.
    assert_eq!(text.matches("cluster_address").count(), 2, "{text}");
}

#[test]
fn lanes_of_a_warp_that_ask_several_blocks_take_wavefronts_of_each() {
    // The upper lanes read from the block that has their half.
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), of_two_blocks(&[8], [1, 2, 16], 4));
    let plan = only(&src, &dst, 32);
    assert_eq!(plan.path, ConversionKind::Cluster);
    assert!(plan.stats.counts.wavefronts_loaded >= 2 * plan.stats.counts.shared_loads, "{:?}", plan.stats.counts);
}

#[test]
fn rounds_wait_for_the_cluster_between_them() {
    let registers = [8, 16, 32, 64];
    let src = layout(8, [&registers, &[1, 2, 4], &[], &[128]]);
    let dst = layout(8, [&[128, 16, 32, 64], &[4, 1, 2], &[], &[8]]);
    let target = test_target();
    for (bytes, rounds) in [(512, 1), (256, 2), (128, 4)] {
        let context = PlanContext::new(&target).with_scratch_bytes(bytes);
        let plans = check_all(&src, &dst, 32, context);
        let plan = plans.iter().find(|plan| plan.path == ConversionKind::Cluster).expect("a plan");
        assert_eq!((plan.stats.shared_bytes, plan.stats.counts.cluster_barriers), (bytes, 2 * rounds));
    }
}

#[test]
fn targets_without_clusters_or_with_smaller_ones_say_so() {
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), of_two_blocks(&[16], [1, 2, 4], 8));
    let message = |blocks: u32| {
        let mut target = test_target();
        target.limits.blocks_per_cluster = blocks;
        movement::plan_conversion(&src, &dst, 32, &target).expect_err("no candidate").to_string()
    };
    let none = message(1);
    assert!(none.contains("cluster: elements cross blocks, and target small has no clusters"), "{none}");
    let wide = |a: u64, b: u64, registers: &[u64]| layout(6, [registers, &[1, 2, 4], &[], &[a, b]]);
    let mut target = test_target();
    target.limits.blocks_per_cluster = 2;
    let error =
        movement::plan_conversion(&wide(16, 32, &[8]), &wide(32, 16, &[8]), 32, &target).expect_err("four blocks");
    let expected = "target small has clusters of at most 2 blocks, the layouts have 4";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_cluster_barrier_has_the_cost_of_the_target() {
    let (src, dst) = (of_two_blocks(&[8], [1, 2, 4], 16), of_two_blocks(&[16], [1, 2, 4], 8));
    let mut target = test_target();
    let cost = |target: &_| movement::plan_conversion(&src, &dst, 32, target).expect("a plan").stats.cost;
    let as_of_block = cost(&target);
    let mut barrier = target.costs.block_barrier.clone();
    barrier.latency += 100.0;
    target.costs.cluster_barrier = Some(barrier);
    // Each of two cluster barriers has 100 cycles more latency than a block barrier; the cost model divides latency by
    // at least four warps.
    assert_eq!(cost(&target), as_of_block + 200.0 / 4.0);
}
