//! Tests of conversions on the small test target: every candidate for every pair of layouts puts every element where
//! the destination layout has it, replicas included. The executed counts equal those of the plan, which are not below
//! its lower bound. The target has instructions that move tiles between registers and shared memory.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::tiles::rows;
use test_targets::{target_with_swaps, target_with_xor_shuffles, test_target};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionKind, ConversionPlan, PlanContext};
use tilewright_verify::{build_conversion_case, check_emulated};

/// Checks every candidate for a conversion, with and without instructions; returns the plans for the target without
/// changes.
fn check_all(src: &LinearLayout, dst: &LinearLayout, bits: u32) -> Vec<ConversionPlan> {
    let (target, instructions) = (test_target(), rows());
    for lanes in [&[2][..], &[1, 4]] {
        let swapping = target_with_swaps(lanes);
        check_candidates(src, dst, bits, &[PlanContext::new(&swapping)]);
    }
    check_candidates(src, dst, bits, &[PlanContext::new(&target_with_xor_shuffles(&[1, 2, 3, 7]))]);
    check_candidates(
        src,
        dst,
        bits,
        &[PlanContext::new(&target), PlanContext::new(&target).with_instructions(&instructions)],
    )
}

fn check_candidates(
    src: &LinearLayout,
    dst: &LinearLayout,
    bits: u32,
    contexts: &[PlanContext<'_>],
) -> Vec<ConversionPlan> {
    let mut all = Vec::new();
    for &context in contexts {
        let (plans, _) = movement::conversion_candidates(src, dst, bits, context).expect("the question is sound");
        for plan in plans {
            if let Err(wrong) =
                build_conversion_case([src, dst], bits, &plan, context).and_then(|case| check_emulated(&case, context))
            {
                panic!("{} of {bits} bits: {wrong}\nfrom\n{src}\nto\n{dst}", plan.path);
            }
            check_rounds(src, dst, &plan);
            all.push(plan);
        }
    }
    all
}

/// Checks the source threads of all rounds of a shuffle plan: each holds the element that the receiver needs. The
/// number of rounds that move data equals the number of shuffles.
fn check_rounds(src: &LinearLayout, dst: &LinearLayout, plan: &ConversionPlan) {
    let Some(rounds) = plan.shuffle_rounds() else { return };
    let threads = 1u64 << (LANE_BITS as u32 + src.in_bits(Dim::WARP));
    let element = |layout: &LinearLayout, register: u64, thread: u64| {
        layout.apply_packed(register | thread << layout.in_bits(Dim::REGISTER))
    };
    for thread in 0..threads {
        for register in 0..1u64 << dst.in_bits(Dim::REGISTER) {
            let round = rounds.round_of_register(register, thread);
            let giver = rounds.source_thread(round, thread);
            assert!(round < rounds.count() && giver >> LANE_BITS == thread >> LANE_BITS);
            assert!(!rounds.is_identity(round) || giver == thread);
            let required = element(dst, register, thread);
            let given = (0..1u64 << src.in_bits(Dim::REGISTER)).any(|r| element(src, r, giver) == required);
            assert!(given, "round {round}: thread {giver} has not what {thread} wants in {register}");
        }
    }
    let moving = (0..rounds.count()).filter(|&round| !rounds.is_identity(round)).count() as u64;
    assert!([moving, 2 * moving].contains(&plan.stats.counts.shuffles), "{moving} rounds, {:?}", plan.stats.counts);
}

const LANE_BITS: usize = 3;

/// Returns a layout of `2^bits` elements: tensor bit `i` has the column `images[i]` at position bit `order[i]`; all
/// other position bits have zero columns. Positions are counted lanes first, then warps, then registers.
fn layout(bits: usize, warp_bits: usize, order: &[usize], images: &[u64]) -> LinearLayout {
    let input_bits = order.len();
    let mut columns = vec![0u64; input_bits];
    for (bit, &input_bit) in order.iter().take(bits).enumerate() {
        columns[input_bit] = images[bit];
    }
    let threads = LANE_BITS + warp_bits;
    let bases = |columns: &[u64]| columns.iter().map(|&c| vec![c & 3, c >> 2]).collect::<Vec<_>>();
    let (threads, registers) = columns.split_at(threads);
    let (lanes, warps) = threads.split_at(LANE_BITS);
    let bases =
        [(Dim::REGISTER, bases(registers)), (Dim::LANE, bases(lanes)), (Dim::WARP, bases(warps)), (Dim::BLOCK, vec![])];
    LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 4), (Dim::tensor(1), 1 << (bits - 2))]).expect("sizes fit")
}

/// Returns an invertible matrix over F2: the identity, with column `b` added to column `a` for each step `(a, b)`.
pub fn mixed(bits: usize, steps: &[(usize, usize)]) -> Vec<u64> {
    let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
    for &(from, to) in steps {
        let (from, to) = (from % bits, to % bits);
        if from != to {
            columns[to] ^= columns[from];
        }
    }
    columns
}

#[derive(Debug, Clone)]
struct Pair {
    src: LinearLayout,
    dst: LinearLayout,
    bits: u32,
}

/// Generates two layouts of one tensor, with replicas, for one or more warps.
fn pairs(column_additions: usize) -> impl Strategy<Value = Pair> {
    (2usize..9, 0usize..3, 0usize..3, 0usize..3).prop_flat_map(move |(bits, warp_bits, spare_src, spare_dst)| {
        let input_bits = |spare: usize| (bits + spare).max(LANE_BITS + warp_bits);
        let order = |count: usize| Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        let steps = || prop::collection::vec((0usize..9, 0usize..9), 0..=column_additions);
        let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
        (order(input_bits(spare_src)), order(input_bits(spare_dst)), steps(), steps(), widths).prop_map(
            move |(src, dst, src_steps, dst_steps, element_bits)| Pair {
                src: layout(bits, warp_bits, &src, &mixed(bits, &src_steps)),
                dst: layout(bits, warp_bits, &dst, &mixed(bits, &dst_steps)),
                bits: element_bits,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn distributed_layouts_convert(pair in pairs(0)) {
        check_all(&pair.src, &pair.dst, pair.bits);
    }

    #[test]
    fn layouts_that_add_bits_convert(pair in pairs(6)) {
        check_all(&pair.src, &pair.dst, pair.bits);
    }
}

#[test]
fn a_layout_converts_to_itself_by_doing_nothing() {
    let a = layout(6, 1, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let plan = movement::plan_conversion(&a, &a, 16, &test_target()).expect("possible");
    assert_eq!((plan.path, plan.stats.counts, plan.stats.shared_bytes), (ConversionKind::None, Default::default(), 0));
    check_all(&a, &a, 16);
}

#[test]
fn renamed_registers_cost_nothing() {
    let src = layout(6, 1, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let dst = layout(6, 1, &[0, 1, 2, 3, 5, 4], &mixed(6, &[]));
    let plan = movement::plan_conversion(&src, &dst, 32, &test_target()).expect("possible");
    assert_eq!((plan.path, plan.stats.counts), (ConversionKind::Register, Default::default()));
    assert!(check_all(&src, &dst, 32).iter().any(|plan| plan.path == ConversionKind::Register));
}

#[test]
fn a_permutation_of_lanes_is_one_shuffle_a_word() {
    // Four registers of 16 bits are two words.
    let src = layout(5, 0, &[0, 1, 2, 3, 4], &mixed(5, &[]));
    let dst = layout(5, 0, &[1, 2, 0, 3, 4], &mixed(5, &[]));
    let plans = movement::conversion_candidates(&src, &dst, 16, &test_target()).expect("sound").0;
    let shuffle = plans.iter().find(|plan| plan.path == ConversionKind::Shuffle).expect("possible");
    assert_eq!((shuffle.stats.counts.shuffles, shuffle.stats.counts.selects, shuffle.stats.bound.shuffles), (2, 0, 2));
    check_all(&src, &dst, 16);
}

#[test]
fn the_transpose_of_seed_figure_5_needs_no_conflicts() {
    // A square tensor of 32-bit elements: a lane holds a row in one layout, a column in the other.
    let src = layout(6, 0, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let dst = layout(6, 0, &[3, 4, 5, 0, 1, 2], &mixed(6, &[]));
    let plans = movement::conversion_candidates(&src, &dst, 32, &test_target()).expect("sound").0;
    let shared = plans.iter().find(|plan| plan.path == ConversionKind::Shared).expect("possible");
    // 64 elements of 4 bytes are 8 wavefronts of 32 bytes to memory and 8 back; the plan takes no more.
    assert_eq!((shared.stats.counts.wavefronts_stored, shared.stats.counts.wavefronts_loaded), (8, 8));
    assert_eq!((shared.stats.bound.wavefronts_stored, shared.stats.bound.wavefronts_loaded), (8, 8));
    check_all(&src, &dst, 32);
}

#[test]
fn columns_of_narrow_elements_are_moved_as_tiles() {
    // A square tensor of 16-bit elements: a lane holds a row in one layout, a column in the other, so no two elements
    // of a lane are contiguous on both sides.
    let src = layout(6, 0, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let dst = layout(6, 0, &[3, 4, 5, 0, 1, 2], &mixed(6, &[]));
    let by = |matrix: bool| {
        let tiled = |plan: &ConversionPlan| plan.stats.counts.matrix_stores + plan.stats.counts.matrix_loads > 0;
        let plans = check_all(&src, &dst, 16).into_iter();
        plans.filter(|plan| plan.path == ConversionKind::Shared).find(|plan| tiled(plan) == matrix).expect("a plan")
    };
    // 1024 bits are 4 wavefronts of 32 bytes in each direction; single elements take twice as many.
    let wavefronts = |plan: ConversionPlan| {
        (plan.stats.counts.wavefronts_stored + plan.stats.counts.wavefronts_loaded, plan.stats.above_bound)
    };
    assert_eq!(wavefronts(by(true)), (8, None));
    assert_eq!(wavefronts(by(false)).0, 12);
}

#[test]
fn scratch_that_does_not_fit_is_used_in_rounds() {
    // 512 elements of 8 bytes are 4096 bytes; the conversion may use 2048 bytes of shared memory.
    let src = layout(9, 0, &[0, 1, 2, 3, 4, 5, 6, 7, 8], &mixed(9, &[]));
    let dst = layout(9, 0, &[3, 4, 5, 0, 1, 2, 6, 7, 8], &mixed(9, &[]));
    let target = test_target();
    let context = PlanContext::new(&target).with_scratch_bytes(2048);
    let plans = movement::conversion_candidates(&src, &dst, 64, context).expect("sound").0;
    let shared = plans.iter().find(|plan| plan.path == ConversionKind::Shared).expect("possible");
    assert_eq!(shared.stats.shared_bytes, 2048);
    // Two rounds need three barriers: after the first stores, after the first loads and after the second stores.
    assert_eq!(shared.stats.counts.warp_barriers, 3);
    check_all(&src, &dst, 64);
}

#[test]
fn replicating_warps_store_a_share_each() {
    // Four warps hold all 64 elements each and need a quarter.
    let bases = |lanes: [u64; 3], warps: [u64; 2], registers: &[u64]| {
        let bases = |columns: &[u64]| columns.iter().map(|&c| vec![c & 3, c >> 2]).collect::<Vec<_>>();
        let dims = [(Dim::REGISTER, registers), (Dim::LANE, &lanes[..]), (Dim::WARP, &warps[..]), (Dim::BLOCK, &[])];
        let dims = dims.map(|(dim, columns)| (dim, bases(columns)));
        LinearLayout::from_bases(&dims, &[(Dim::tensor(0), 4), (Dim::tensor(1), 16)]).expect("sizes fit")
    };
    let (src, dst) = (bases([1, 2, 4], [0, 0], &[8, 16, 32]), bases([8, 16, 32], [1, 2], &[4]));
    let plans = check_all(&src, &dst, 32);
    let shared = plans.iter().find(|plan| plan.path == ConversionKind::Shared).expect("possible");
    // A quarter of 256 bytes is two wavefronts a warp.
    assert_eq!((shared.stats.counts.wavefronts_stored, shared.stats.counts.shared_stores), (2, 1));
    assert_eq!(shared.stats.bound.wavefronts_stored, 2);
}

#[test]
fn plans_use_at_most_the_given_scratch() {
    let src = layout(6, 0, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let dst = layout(6, 0, &[1, 0, 3, 2, 5, 4], &mixed(6, &[]));
    let target = test_target();
    for bytes in [64, 128, 256] {
        let context = PlanContext::new(&target).with_scratch_bytes(bytes);
        let (plans, _) = movement::conversion_candidates(&src, &dst, 32, context).expect("sound");
        let shared = plans.iter().find(|plan| plan.path == ConversionKind::Shared).expect("possible");
        // 64 elements of 4 bytes.
        assert_eq!((shared.stats.shared_bytes, shared.stats.counts.warp_barriers), (bytes, 2 * 256 / bytes - 1));
        build_conversion_case([&src, &dst], 32, shared, context)
            .and_then(|case| check_emulated(&case, context))
            .expect("the plan is right");
    }
}

#[test]
fn blocks_keep_their_own_elements() {
    let base = |lanes: [u64; 3], registers: [u64; 2]| {
        let bases = |columns: &[u64]| columns.iter().map(|&c| vec![c & 3, c >> 2]).collect::<Vec<_>>();
        LinearLayout::from_bases(
            &[
                (Dim::REGISTER, bases(&registers)),
                (Dim::LANE, bases(&lanes)),
                (Dim::WARP, vec![]),
                (Dim::BLOCK, vec![vec![0, 8]]),
            ],
            &[(Dim::tensor(0), 4), (Dim::tensor(1), 16)],
        )
        .expect("sizes fit")
    };
    check_all(&base([1, 2, 4], [8, 16]), &base([8, 16, 1], [2, 4]), 32);
}

#[test]
fn invalid_inputs_are_errors() {
    let target = test_target();
    let a = layout(6, 1, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let b = layout(6, 0, &[0, 1, 2, 3, 4, 5], &mixed(6, &[]));
    let c = layout(5, 1, &[0, 1, 2, 3, 4], &mixed(5, &[]));
    let message = |src, dst, bits| movement::plan_conversion(src, dst, bits, &target).expect_err("no plan").to_string();
    assert_eq!(message(&a, &b, 16), "the source has 2^1 positions along warp, the destination 2^0");
    assert_eq!(message(&a, &c, 16), "dim dim1 has 2^4 positions on the left and 2^3 on the right");
    assert_eq!(message(&a, &a, 80), "elements of 80 bits cannot be moved: 8, 16, 32 and 64 can");
    let wide = LinearLayout::identity(16, Dim::LANE, Dim::tensor(0)).expect("sizes fit");
    assert_eq!(message(&wide, &wide, 16), "target small has no warps of 16 lanes; it has [8]");
}

/// Checks a conversion without bytes that are contiguous in a lane on both sides, so that one side would move single
/// bytes. Lanes that swap two lane bits for two register bits move words on both sides.
#[test]
fn bytes_are_shuffled_so_that_words_cross_memory() {
    let unmixed = mixed(10, &[]);
    let src = layout(10, 2, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &unmixed);
    let dst = layout(10, 2, &[5, 6, 7, 8, 9, 0, 1, 2, 3, 4], &unmixed);
    check_all(&src, &dst, 8);
    let best = movement::plan_conversion(&src, &dst, 8, &test_target()).expect("a plan");
    let (plans, _) = movement::conversion_candidates(&src, &dst, 8, &test_target()).expect("plans");
    let of = |path: ConversionKind| plans.iter().find(|plan| plan.path == path).expect("a plan on this path");
    assert_eq!(best.path, ConversionKind::Mixed);
    let wavefronts = |plan: &ConversionPlan| plan.stats.counts.wavefronts_stored + plan.stats.counts.wavefronts_loaded;
    assert_eq!(wavefronts(of(ConversionKind::Shared)), 8 + 32, "four bytes a lane on one side");
    assert_eq!(wavefronts(&best), 8 + 8, "four bytes a lane on both");
    assert!(
        best.stats.counts.shuffles > 0
            && movement::price_counts_in_wavefronts(&best.stats.counts)
                < movement::price_counts_in_wavefronts(&of(ConversionKind::Shared).stats.counts)
    );
}

/// Returns a layout of `2^bits` elements on four warps whose first register bit has tensor bit 0; the others have the rest
/// in this order of positions.
fn words_first(bits: usize, order: &[usize]) -> LinearLayout {
    let first = LANE_BITS + 2;
    let others = order.iter().map(|&position| if position >= first { position + 1 } else { position });
    let positions: Vec<usize> = std::iter::once(first).chain(others).collect();
    layout(bits, 2, &positions, &mixed(bits, &[]))
}

proptest! {
    /// Checks that adjacent registers which share a word on both sides stay together in scratch memory.
    #[test]
    fn words_of_both_sides_cross_memory_without_byte_permutes(
        src in Just((0usize..9).collect::<Vec<_>>()).prop_shuffle(),
        dst in Just((0usize..9).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (src, dst) = (words_first(10, &src), words_first(10, &dst));
        let (plans, _) = movement::conversion_candidates(&src, &dst, 16, &test_target()).expect("plans");
        for plan in plans.iter().filter(|plan| plan.path == ConversionKind::Shared) {
            prop_assert_eq!(plan.stats.permutes, 0, "from\n{}\nto\n{}", src, dst);
        }
    }
}
