//! Tests of copies from global memory that write consecutively the elements of consecutive lanes: padding does not
//! split the writes, or lanes fetch other elements.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    GlobalTensor, PlanContext, RankedSharedLayouts, SharedLayoutCandidate, SharedLayoutKind, SharedLayoutSearchOptions,
    SharedMemoryAccessor, WarpAddressedSharedCopy, choose_shared_layout, plan_shared_access,
};
use tilewright_target::Direction;
use tilewright_verify::{build_shared_load_case, build_shared_store_case, check_emulated};

use super::layouts::{along, plane};
use tilewright_testkit::test_targets::test_target;

fn copied(layout: &LinearLayout, shape: [u64; 2], access_bits: u32) -> SharedMemoryAccessor {
    let global = GlobalTensor::row_major(&shape, 16);
    SharedMemoryAccessor::store(layout.clone()).with_copy(WarpAddressedSharedCopy { global, access_bits })
}

/// Checks that the fetched elements are contiguous in memory, lane after lane, for every access of every warp.
fn is_consecutive(fetched: &LinearLayout, candidate: &SharedLayoutCandidate, vector: u64) {
    let memory = &candidate.memory;
    let offsets = 1u64 << memory.linear.in_bits(Dim::OFFSET);
    let offset_of = |element: u64| {
        let offset = (0..offsets).find(|&offset| memory.linear.apply_packed(offset) == element).expect("an offset");
        memory.physical_offset(offset)
    };
    let size = |dim| 1u64 << fetched.in_bits(dim);
    for warp in 0..size(Dim::WARP) {
        for access in 0..size(Dim::REGISTER) / vector {
            let at = |lane: u64, element: u64| {
                let position = [(Dim::REGISTER, access * vector + element), (Dim::LANE, lane), (Dim::WARP, warp)];
                fetched.outs().pack(&fetched.apply(&position).expect("a position")).expect("an element")
            };
            let first = offset_of(at(0, 0));
            for lane in 0..size(Dim::LANE) {
                for element in 0..vector {
                    assert_eq!(
                        offset_of(at(lane, element)),
                        first + lane * vector + element,
                        "lane {lane} of warp {warp}"
                    );
                }
            }
        }
    }
}

/// Counts the global-memory transactions of all accesses of all warps, for row-major elements.
fn transactions(fetched: &LinearLayout, columns: u64, bytes: u64, vector: u64, sector_bytes: u64) -> u64 {
    let size = |dim| 1u64 << fetched.in_bits(dim);
    let mut count = 0;
    for warp in 0..size(Dim::WARP) {
        for access in 0..size(Dim::REGISTER) / vector {
            let mut touched = BTreeSet::new();
            for lane in 0..size(Dim::LANE) {
                for element in 0..vector {
                    let position = [(Dim::REGISTER, access * vector + element), (Dim::LANE, lane), (Dim::WARP, warp)];
                    let coordinates = fetched.apply(&position).expect("a position");
                    let at =
                        |axis| coordinates.iter().find(|(dim, _)| *dim == Dim::tensor(axis)).map_or(0, |(_, at)| *at);
                    touched.insert((at(0) * columns + at(1)) * bytes / sector_bytes);
                }
            }
            count += touched.len() as u64;
        }
    }
    count
}

/// Executes all accesses of a chosen layout on the emulator and checks the results.
pub fn check<'a>(
    candidate: &SharedLayoutCandidate,
    requested: &[SharedMemoryAccessor],
    bits: u32,
    context: impl Into<PlanContext<'a>>,
) {
    let context = context.into();
    for (at, accessor) in requested.iter().enumerate() {
        let own = candidate.fetch.as_ref().filter(|_| accessor.copy.is_some()).map(|fetch| &fetch.layout);
        let layout = own.unwrap_or(&accessor.layout);
        let context = if accessor.copy.is_some() { context.with_instructions(&[]) } else { context };
        let plan = plan_shared_access(layout, &candidate.memory, bits, accessor.direction, context).expect("a plan");
        let executed = match accessor.direction {
            Direction::Store => {
                build_shared_store_case(layout, &candidate.memory, bits, &plan)
                    .and_then(|case| check_emulated(&case, context))
                    .expect("memory")
                    .counts
                    .wavefronts_stored
            }
            Direction::Load => {
                build_shared_load_case(layout, &candidate.memory, bits, &plan)
                    .and_then(|case| check_emulated(&case, context))
                    .expect("registers")
                    .counts
                    .wavefronts_loaded
            }
        };
        assert_eq!(executed, candidate.accessors[at].wavefronts, "accessor {at} of {}", candidate.kind);
    }
}

fn of_kind(choice: &RankedSharedLayouts, kind: SharedLayoutKind) -> &SharedLayoutCandidate {
    choice.candidates.iter().find(|candidate| candidate.kind == kind).expect("a candidate of the kind")
}

/// Returns accessors of 16x16 words: a copy that fetches two rows of pairs of eight lanes, and readers that need
/// columns.
fn problem() -> (Vec<SharedMemoryAccessor>, LinearLayout) {
    let fetched = plane([4, 4], &[along(1, 0..1), along(0, 0..2)].concat(), &along(1, 1..4), &along(0, 2..4));
    let columns = plane([4, 4], &[along(1, 0..2), along(0, 3..4)].concat(), &along(0, 0..3), &along(1, 2..4));
    (vec![copied(&fetched, [16, 16], 64), SharedMemoryAccessor::load(columns)], fetched)
}

#[test]
fn padding_and_permuted_fetches_keep_the_copy_consecutive() {
    let (requested, fetched) = problem();
    let choice =
        choose_shared_layout(&requested, 32, &SharedLayoutSearchOptions::default(), &test_target()).expect("a choice");
    let (plain, padded) = (of_kind(&choice, SharedLayoutKind::Plain), of_kind(&choice, SharedLayoutKind::Padding));
    let permuted = of_kind(&choice, SharedLayoutKind::PermutedGlobal);
    is_consecutive(&fetched, plain, 2);
    is_consecutive(&fetched, padded, 2);
    let fetch = permuted.fetch.as_ref().expect("what the copy fetches");
    is_consecutive(&fetch.layout, permuted, 2);
    assert_eq!(fetch.transactions, transactions(&fetch.layout, 16, 4, 2, 32));
    assert_eq!(fetch.straight_transactions, transactions(&fetched, 16, 4, 2, 32));
    assert!(
        plain.conflict_wavefronts() > 0 && padded.conflict_wavefronts() == 0 && permuted.conflict_wavefronts() == 0
    );
    // Both are free of bank conflicts; fetching other elements of the same rows costs no transaction and no byte.
    assert_eq!((fetch.transactions, permuted.bytes), (fetch.straight_transactions, 1024));
    assert!(padded.bytes > 1024);
    assert_eq!(choice.chosen().kind, SharedLayoutKind::PermutedGlobal);
    assert_eq!(choice.wavefronts_above_bound(), 0);
    for candidate in [plain, padded, permuted] {
        check(candidate, &requested, 32, &test_target());
    }
    // Copies with an address for each lane could use the swizzled layout; this copy writes consecutively, so the
    // swizzle is rejected.
    let rejected = of_kind(&choice, SharedLayoutKind::Swizzle).rejected.as_deref();
    assert_eq!(rejected, Some("the copy writes consecutively what consecutive lanes fetch"));
}

#[test]
fn padding_alone_takes_the_fewest_bytes_that_split_no_access() {
    let (requested, _) = problem();
    let choice = choose_shared_layout(
        &requested,
        32,
        &SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Padding),
        &test_target(),
    )
    .expect("a choice");
    let chosen = choice.chosen();
    assert_eq!((chosen.kind, chosen.conflict_wavefronts()), (SharedLayoutKind::Padding, 0));
    // One copy instruction of a warp writes 16 words.
    assert!(chosen.memory.padding.iter().all(|p| p.interval >= 16), "{:?}", chosen.memory.padding);
    // The padding is the smallest: with one word less there are bank conflicts.
    for less in 1..chosen.memory.padding[0].padding {
        let mut memory = chosen.memory.clone();
        memory.padding[0].padding = less;
        let plan =
            plan_shared_access(&requested[1].layout, &memory, 32, Direction::Load, &test_target()).expect("a plan");
        assert!(plan.stats.counts.wavefronts_loaded > chosen.accessors[1].wavefronts);
    }
}

#[test]
fn a_fetch_that_touches_more_sectors_never_wins() {
    // A lane fetches one word of a row of eight. A permutation across rows would take more transactions, which outweigh
    // any wavefronts.
    let (requested, _) = problem();
    let choice =
        choose_shared_layout(&requested, 32, &SharedLayoutSearchOptions::default(), &test_target()).expect("a choice");
    let open = choice.candidates.iter().filter(|candidate| candidate.rejected.is_none());
    let extra = |c: &SharedLayoutCandidate| {
        c.fetch.as_ref().map_or(0, |fetch| fetch.transactions - fetch.straight_transactions)
    };
    let scores: Vec<_> = open.map(|c| (extra(c), c.weighted_wavefronts(), c.bytes)).collect();
    assert!(scores.is_sorted(), "{scores:?}");
}

#[test]
fn what_no_copy_can_do_is_refused() {
    let ask = |accessor| {
        choose_shared_layout(&[accessor], 32, &SharedLayoutSearchOptions::default(), &test_target())
            .expect_err("a refusal")
    };
    let rows = plane([2, 3], &along(0, 0..2), &along(1, 0..3), &[]);
    let loads = SharedMemoryAccessor { direction: Direction::Load, ..copied(&rows, [4, 8], 32) };
    assert!(ask(loads).to_string().contains("and it stores"));
    // The third lane bit only selects replicas: lanes that differ in it fetch the same element.
    let bases = [(Dim::REGISTER, vec![vec![1, 0]]), (Dim::LANE, vec![vec![0, 1], vec![0, 2], vec![0, 0]])];
    let twice = LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 2), (Dim::tensor(1), 4)]).expect("sizes fit");
    assert!(ask(copied(&twice, [2, 4], 32)).to_string().contains("lanes of the copy fetch replicas"));
}
