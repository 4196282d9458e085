//! Reductions on an invented machine: the plan's result is the sum along the axis in every lane that
//! the slice of the source's layout names, and what was executed is what the plan counted, never less
//! than its bound.

use tilewright_testkit::machines;

use machines::{LANE_BITS, layout, machine, machine_that_crosses};
use proptest::prelude::*;
use tilewright_kernel::Counts;
use tilewright_layout::families::Neutral;
use tilewright_layout::{Dim, Families, LinearLayout, parse_spec};
use tilewright_plan::movement::{MovementError, Reduction, reduce, reductions};
use tilewright_target::TargetDescription;
use tilewright_verify::{check_emulated, reduction_case};

fn check(src: &LinearLayout, axis: Dim, bits: &[u32]) -> Reduction {
    check_on(&machine_that_crosses(&[1, 4]), src, axis, bits);
    check_on(&machine(), src, axis, bits)
}

/// The best of all ways, each of which is shown.
fn check_on(target: &TargetDescription, src: &LinearLayout, axis: Dim, bits: &[u32]) -> Reduction {
    let ways = reductions(src, axis, bits, target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    for way in &ways {
        if let Err(wrong) =
            reduction_case((src, axis), bits, way, target).and_then(|case| check_emulated(&case, target))
        {
            let (halving, reading, trips) = (way.halving_lanes(), way.reading_lanes(), 1 + u32::from(way.hands_out()));
            panic!("{wrong}\n{halving} lanes halve, {reading} read, {trips} trips along {axis} of\n{src}");
        }
    }
    let first = ways.into_iter().next().expect("a way");
    let best = reduce(src, axis, bits, target).unwrap_or_else(|error| panic!("{error}\n{src}"));
    assert_eq!((best.stats.counts, best.stats.cost), (first.stats.counts, first.stats.cost), "along {axis} of\n{src}");
    first
}

#[derive(Debug, Clone)]
struct Question {
    src: LinearLayout,
    axis: Dim,
    bits: Vec<u32>,
}

/// Layouts of three axes: each unit of each axis somewhere, copies elsewhere: zeros, or bases that
/// another position has too.
fn problems() -> impl Strategy<Value = Question> {
    let sizes = (0u32..4, 0u32..4, 0u32..3);
    (sizes, 0usize..3, 0usize..3, 0usize..3).prop_flat_map(|(sizes, warp_bits, spare, axis)| {
        let sizes = [sizes.0, sizes.1, sizes.2];
        let units: Vec<(usize, u64)> =
            (0..3).flat_map(|axis| (0..sizes[axis]).map(move |bit| (axis, 1u64 << bit))).collect();
        let slots = (units.len() + spare).max(LANE_BITS + warp_bits);
        let copies = prop::collection::vec(prop::option::weighted(0.4, any::<prop::sample::Index>()), slots);
        let order = Just((0..slots).collect::<Vec<_>>()).prop_shuffle();
        let widths = prop::collection::vec(prop::sample::select(vec![8u32, 16, 32, 64]), 1..3);
        (order, copies, widths).prop_map(move |(order, copies, bits)| {
            let mut columns = vec![(0usize, 0u64); slots];
            for (at, &slot) in order.iter().enumerate() {
                columns[slot] = match units.get(at) {
                    Some(&unit) => unit,
                    None => copies[slot].filter(|_| !units.is_empty()).map_or((0, 0), |copy| *copy.get(&units)),
                };
            }
            Question { src: layout(&columns, sizes, warp_bits), axis: Dim::tensor(axis), bits }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_lane_of_the_slice_holds_the_sum(problem in problems()) {
        let plan = check(&problem.src, problem.axis, &problem.bits);
        if plan.stats.above_bound.is_none() {
            prop_assert!(plan.stats.counts.exchanges <= plan.stats.bound.exchanges);
            prop_assert!(plan.stats.counts.wavefronts_stored <= plan.stats.bound.wavefronts_stored);
        }
    }
}

/// A blocked layout on 8 lanes, the columns fastest.
fn blocked(shape: [u64; 2], size: [u64; 2], lanes: [u64; 2], warps: [u64; 2]) -> LinearLayout {
    let text = format!(
        "#ttg.blocked<{{sizePerThread = {size:?}, threadsPerWarp = {lanes:?}, warpsPerCTA = {warps:?}, order = [1, 0]}}>"
    );
    let spec = parse_spec(&text).expect("a family");
    Neutral.resolve(&spec, &shape, &Neutral).expect("a layout").linear().clone()
}

#[test]
fn an_axis_within_registers_is_free() {
    let plan = check(&blocked([8, 4], [1, 4], [8, 1], [1, 1]), Dim::tensor(1), &[32]);
    assert_eq!((plan.stats.counts, plan.stats.shared_bytes), (Counts::default(), 0));
    assert_eq!(plan.stats.above_bound, None);
}

#[test]
fn an_axis_over_lanes_takes_one_exchange_a_doubling() {
    let plan = check(&blocked([1, 8], [1, 1], [1, 8], [1, 1]), Dim::tensor(1), &[32]);
    assert_eq!(plan.stats.counts, Counts { exchanges: 3, ..Counts::default() });
    assert_eq!(plan.stats.above_bound, None);
    // Narrow results share a word.
    let plan = check(&blocked([2, 8], [2, 1], [1, 8], [1, 1]), Dim::tensor(1), &[16]);
    assert_eq!(plan.stats.counts, Counts { exchanges: 3, ..Counts::default() });
}

#[test]
fn lanes_that_differ_by_a_constant_are_reached_by_it() {
    let src = blocked([1, 8], [1, 1], [1, 8], [1, 1]);
    let cost = |masks: &[u32], across: u64| {
        let plan = check_on(&machine_that_crosses(masks), &src, Dim::tensor(1), &[32]);
        assert_eq!(plan.stats.counts, Counts { exchanges: 3, exchanges_xor: across, ..Counts::default() }, "{masks:?}");
        plan.stats.cost
    };
    // The machine's exchanges by a constant take as long as its selects.
    let costs = machine().costs;
    let saved = costs.exchange.cycles - costs.select.cycles;
    assert!(saved > 0.0);
    let (none, some, all) = (cost(&[3], 0), cost(&[1, 4], 2), cost(&[1, 2, 4], 3));
    assert!(none > all && some != none, "{none} {some} {all}");
}

#[test]
fn copies_are_neither_added_twice_nor_stored_twice() {
    // 4 columns over 8 lanes and 2 warps: half of the lanes and one of the warps hold copies.
    let src = blocked([4, 4], [1, 1], [4, 2], [1, 2]);
    let plan = check(&src, Dim::tensor(1), &[32]);
    // Each warp stores the sums of 4 rows once: one store of one wavefront.
    assert_eq!((plan.stats.counts.shared_stores, plan.stats.counts.wavefronts_stored), (1, 1));
    assert_eq!(plan.stats.counts.barriers, 1);
    assert_eq!(plan.stats.shared_bytes, 32);
}

#[test]
fn warps_meet_once_however_many_they_are() {
    for warps in [2, 4, 8] {
        let src = blocked([8, 8 * warps], [1, 8], [8, 1], [1, warps]);
        let plan = check(&src, Dim::tensor(1), &[32]);
        assert_eq!((plan.stats.counts.barriers, plan.stats.counts.exchanges), (1, 0), "{warps} warps");
    }
}

#[test]
fn where_warps_are_many_each_sum_is_combined_once_and_handed_out() {
    let of = |warps: u64| {
        // Eight rows a lane, of which each warp holds a part.
        let src = blocked([64, 8 * warps], [8, 8], [8, 1], [1, warps]);
        check(&src, Dim::tensor(1), &[32])
    };
    let (few, many) = (of(2), of(8));
    assert_eq!((few.hands_out(), few.stats.counts.barriers), (false, 1));
    assert_eq!((many.hands_out(), many.stats.counts.barriers), (true, 2));
    // In one trip every lane would load eight parts of each of its eight sums.
    assert!(many.stats.counts.shared_loads < 8 * 8 / 4, "{:?}", many.stats.counts);
}

#[test]
fn tuples_share_the_memory_of_a_block() {
    // Of each of six tensors eight warps hold parts of 64 sums: whole parts take 2 KiB each, and there are 8.
    let src = blocked([64, 64], [8, 8], [8, 1], [1, 8]);
    let most = u64::from(machine().shared.bytes);
    check(&src, Dim::tensor(1), &[32; 6]);
    for way in reductions(&src, Dim::tensor(1), &[32; 6], &machine()).expect("ways") {
        assert!(way.stats.shared_bytes <= most, "{} bytes", way.stats.shared_bytes);
    }
}

#[test]
fn bad_questions_are_errors() {
    let target = machine();
    let src = blocked([8, 8], [1, 8], [8, 1], [1, 1]);
    assert!(matches!(reduce(&src, Dim::tensor(2), &[32], &target), Err(MovementError::Layout(_))));
    assert!(matches!(reduce(&src, Dim::tensor(1), &[], &target), Err(MovementError::NoTensors)));
    assert!(matches!(reduce(&src, Dim::tensor(1), &[12], &target), Err(MovementError::ElementBits(12))));
    let diagonal = LinearLayout::from_bases(
        &[(Dim::REGISTER, vec![vec![1, 1], vec![0, 1]]), (Dim::LANE, vec![vec![0, 0]; 3]), (Dim::WARP, vec![])],
        &[(Dim::tensor(0), 2), (Dim::tensor(1), 2)],
    )
    .expect("sizes fit");
    let error = reduce(&diagonal, Dim::tensor(1), &[32], &target).expect_err("mixed");
    assert_eq!(
        error.to_string(),
        "basis 0 of register moves along dim1 and along other axes at once: convert to a layout whose bases move along one axis each"
    );
}
