//! Copies from global memory that write what consecutive lanes fetch consecutively: padding keeps what
//! they write together, or they fetch other elements.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    Accessor, ConsecutiveCopy, Constraints, GlobalTensor, Kind, MemoryChoice, PlanContext, SharedLayoutCandidate,
    access_shared, choose_shared_layout,
};
use tilewright_target::Direction;
use tilewright_verify::{check_emulated, load_case, store_case};

use super::layouts::{along, plane};
use tilewright_testkit::machines::machine;

fn copied(layout: &LinearLayout, shape: [u64; 2], access_bits: u32) -> Accessor {
    let global = GlobalTensor::row_major(&shape, 16);
    Accessor::store(layout.clone()).copied(ConsecutiveCopy { global, access_bits })
}

/// What lanes fetch lies side by side in memory, lane after lane, for every access of every warp.
fn is_consecutive(fetched: &LinearLayout, candidate: &SharedLayoutCandidate, vector: u64) {
    let memory = &candidate.memory;
    let offsets = 1u64 << memory.linear.in_bits(Dim::OFFSET);
    let place = |element: u64| {
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
            let first = place(at(0, 0));
            for lane in 0..size(Dim::LANE) {
                for element in 0..vector {
                    assert_eq!(place(at(lane, element)), first + lane * vector + element, "lane {lane} of warp {warp}");
                }
            }
        }
    }
}

/// Units of global memory of row-major elements that all accesses of all warps touch.
fn units(fetched: &LinearLayout, columns: u64, bytes: u64, vector: u64, unit: u64) -> u64 {
    let size = |dim| 1u64 << fetched.in_bits(dim);
    let mut count = 0;
    for warp in 0..size(Dim::WARP) {
        for access in 0..size(Dim::REGISTER) / vector {
            let mut touched = BTreeSet::new();
            for lane in 0..size(Dim::LANE) {
                for element in 0..vector {
                    let position = [(Dim::REGISTER, access * vector + element), (Dim::LANE, lane), (Dim::WARP, warp)];
                    let place = fetched.apply(&position).expect("a position");
                    let at = |axis| place.iter().find(|(dim, _)| *dim == Dim::tensor(axis)).map_or(0, |(_, at)| *at);
                    touched.insert((at(0) * columns + at(1)) * bytes / unit);
                }
            }
            count += touched.len() as u64;
        }
    }
    count
}

/// Runs all accesses on the emulator.
pub fn check<'a>(
    candidate: &SharedLayoutCandidate,
    requested: &[Accessor],
    bits: u32,
    context: impl Into<PlanContext<'a>>,
) {
    let context = context.into();
    for (at, accessor) in requested.iter().enumerate() {
        let own = candidate.fetch.as_ref().filter(|_| accessor.copy.is_some()).map(|fetch| &fetch.layout);
        let layout = own.unwrap_or(&accessor.layout);
        let context = if accessor.copy.is_some() { context.with_instructions(&[]) } else { context };
        let plan = access_shared(layout, &candidate.memory, bits, accessor.direction, context).expect("a plan");
        let executed = match accessor.direction {
            Direction::Store => {
                store_case(layout, &candidate.memory, bits, &plan)
                    .and_then(|case| check_emulated(&case, context))
                    .expect("memory")
                    .counts
                    .wavefronts_stored
            }
            Direction::Load => {
                load_case(layout, &candidate.memory, bits, &plan)
                    .and_then(|case| check_emulated(&case, context))
                    .expect("registers")
                    .counts
                    .wavefronts_loaded
            }
        };
        assert_eq!(executed, candidate.accessors[at].wavefronts, "accessor {at} of {}", candidate.kind);
    }
}

fn of_kind(choice: &MemoryChoice, kind: Kind) -> &SharedLayoutCandidate {
    choice.candidates.iter().find(|candidate| candidate.kind == kind).expect("a candidate of the kind")
}

/// 16x16 words; a copy fetches two rows of eight lanes' pairs... the readers want columns.
fn problem() -> (Vec<Accessor>, LinearLayout) {
    let fetched = plane([4, 4], &[along(1, 0..1), along(0, 0..2)].concat(), &along(1, 1..4), &along(0, 2..4));
    let columns = plane([4, 4], &[along(1, 0..2), along(0, 3..4)].concat(), &along(0, 0..3), &along(1, 2..4));
    (vec![copied(&fetched, [16, 16], 64), Accessor::load(columns)], fetched)
}

#[test]
fn padding_and_permuted_fetches_keep_the_copy_consecutive() {
    let (requested, fetched) = problem();
    let choice = choose_shared_layout(&requested, 32, &Constraints::default(), &machine()).expect("a choice");
    let (plain, padded) = (of_kind(&choice, Kind::Plain), of_kind(&choice, Kind::Padding));
    let permuted = of_kind(&choice, Kind::PermutedGlobal);
    is_consecutive(&fetched, plain, 2);
    is_consecutive(&fetched, padded, 2);
    let fetch = permuted.fetch.as_ref().expect("what the copy fetches");
    is_consecutive(&fetch.layout, permuted, 2);
    assert_eq!(fetch.units, units(&fetch.layout, 16, 4, 2, 32));
    assert_eq!(fetch.straight_units, units(&fetched, 16, 4, 2, 32));
    assert!(plain.excess() > 0 && padded.excess() == 0 && permuted.excess() == 0);
    // Both are free of conflicts; fetching other elements of the same rows costs no unit and no byte.
    assert_eq!((fetch.units, permuted.bytes), (fetch.straight_units, 1024));
    assert!(padded.bytes > 1024);
    assert_eq!(choice.chosen().kind, Kind::PermutedGlobal);
    assert_eq!(choice.gap(), 0);
    for candidate in [plain, padded, permuted] {
        check(candidate, &requested, 32, &machine());
    }
    // Lanes with addresses of their own could swizzle; these cannot.
    let rejected = of_kind(&choice, Kind::Swizzle).rejected.as_deref();
    assert_eq!(rejected, Some("the copy writes consecutively what consecutive lanes fetch"));
}

#[test]
fn padding_alone_takes_the_fewest_bytes_that_keep_accesses_whole() {
    let (requested, _) = problem();
    let choice = choose_shared_layout(&requested, 32, &Constraints::only(Kind::Padding), &machine()).expect("a choice");
    let chosen = choice.chosen();
    assert_eq!((chosen.kind, chosen.excess()), (Kind::Padding, 0));
    // A warp writes 16 words at a time.
    assert!(chosen.memory.padding.iter().all(|p| p.interval >= 16), "{:?}", chosen.memory.padding);
    // The wanted padding is the least of all multiples: with one word less there are conflicts.
    for less in 1..chosen.memory.padding[0].padding {
        let mut memory = chosen.memory.clone();
        memory.padding[0].padding = less;
        let plan = access_shared(&requested[1].layout, &memory, 32, Direction::Load, &machine()).expect("a plan");
        assert!(plan.stats.counts.wavefronts_loaded > chosen.accessors[1].wavefronts);
    }
}

#[test]
fn a_fetch_that_touches_more_units_never_wins() {
    // One lane fetches one word of a row of eight; a permutation of what lanes fetch across rows would
    // touch more units, which no wavefront is worth.
    let (requested, _) = problem();
    let choice = choose_shared_layout(&requested, 32, &Constraints::default(), &machine()).expect("a choice");
    let open = choice.candidates.iter().filter(|candidate| candidate.rejected.is_none());
    let extra = |c: &SharedLayoutCandidate| c.fetch.as_ref().map_or(0, |fetch| fetch.units - fetch.straight_units);
    let scores: Vec<_> = open.map(|c| (extra(c), c.wavefronts(), c.bytes)).collect();
    assert!(scores.is_sorted(), "{scores:?}");
}

#[test]
fn what_no_copy_can_do_is_refused() {
    let ask =
        |accessor| choose_shared_layout(&[accessor], 32, &Constraints::default(), &machine()).expect_err("a refusal");
    let rows = plane([2, 3], &along(0, 0..2), &along(1, 0..3), &[]);
    let loads = Accessor { direction: Direction::Load, ..copied(&rows, [4, 8], 32) };
    assert!(ask(loads).to_string().contains("and it stores"));
    // The third bit of the lane fetches nothing new.
    let bases = [(Dim::REGISTER, vec![vec![1, 0]]), (Dim::LANE, vec![vec![0, 1], vec![0, 2], vec![0, 0]])];
    let twice = LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 2), (Dim::tensor(1), 4)]).expect("sizes fit");
    assert!(ask(copied(&twice, [2, 4], 32)).to_string().contains("lanes of the copy fetch the same elements"));
}
