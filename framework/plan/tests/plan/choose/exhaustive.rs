//! Tests that no linear layout of a small machine is better than the chosen one: all are tried, unless the lower bound
//! excludes a better one. For wavefronts only two chains of subspaces of a layout matter: the spans of its low offset
//! bits (vectors and words) and of its high offset bits (the index subspace, or segments). The bits between are the
//! banks.

use std::collections::HashSet;

use tilewright_layout::f2::{Subspace, multiply_vector};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout,
};
use tilewright_target::{Direction, TargetDescription};

use super::brute::Accesses;
use tilewright_testkit::seeded_rng::SeededRng;

use super::layouts::{self, random};
use tilewright_testkit::test_targets::test_target;

/// Returns the small test target with other numbers of lanes and banks; a phase has as many lanes as fill the banks.
pub fn small(lane_bits: u32, bank_bits: u32) -> TargetDescription {
    let mut target = test_target();
    (target.lanes.default, target.lanes.choices) = (1 << lane_bits, vec![1 << lane_bits]);
    for row in &mut target.shared.banks {
        row.banks = 1 << bank_bits;
        let lanes = (4u32 << bank_bits) * 8 / row.access_bits.iter().max().expect("a width");
        row.phase = (0..lanes.ilog2().min(lane_bits)).map(|bit| 1 << bit).collect();
    }
    target
}

/// Returns every subspace of F2^`bits` with a dimension, from all reduced bases.
fn subspaces(bits: u32, dimension: usize) -> Vec<Subspace> {
    let mut found: HashSet<Subspace> = HashSet::from([Subspace::zero()]);
    for _ in 0..dimension {
        let mut larger = HashSet::new();
        for space in &found {
            for vector in (1..1u64 << bits).filter(|&vector| !space.contains(vector)) {
                let mut space = space.clone();
                space.insert(vector);
                larger.insert(space);
            }
        }
        found = larger;
    }
    found.into_iter().collect()
}

/// Returns all choices of the low offset bits, up to the span of each prefix: any elements within a bank word, beyond
/// it register columns of some accessor.
fn beginnings(bits: u32, word: usize, widest: usize, register_spans: &[Subspace]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    let mut latest: Vec<Vec<u64>> = vec![Vec::new()];
    let mut seen: HashSet<Vec<Subspace>> = HashSet::new();
    for length in 0..widest.max(word) {
        let mut next = Vec::new();
        for low in &latest {
            let span = Subspace::span(low.iter().copied());
            for vector in (1..1u64 << bits).filter(|&vector| !span.contains(vector)) {
                let longer: Vec<u64> = low.iter().copied().chain([vector]).collect();
                let useful = register_spans.iter().any(|space| longer.iter().all(|&vector| space.contains(vector)));
                let prefixes = (1..=longer.len()).map(|end| Subspace::span(longer[..end].iter().copied())).collect();
                if (length < word || useful) && seen.insert(prefixes) {
                    next.push(longer);
                }
            }
        }
        all.extend(next.iter().filter(|low| low.len() >= word).cloned());
        latest = next;
    }
    all.retain(|low| low.len() >= word.min(bits as usize));
    all
}

/// Returns the fewest wavefronts of all accessors over all linear layouts.
fn fewest(
    accessors: &[(LinearLayout, Direction, u64)],
    bits: u32,
    element_bits: u32,
    target: &TargetDescription,
) -> u64 {
    let accesses: Vec<(Accesses, u64)> =
        accessors.iter().map(|(layout, direction, weight)| (Accesses::of(layout, *direction), *weight)).collect();
    let registers = |layout: &LinearLayout| Subspace::span(layout.columns_of(Dim::REGISTER).iter().copied());
    let register_spans: Vec<Subspace> = accessors.iter().map(|(layout, _, _)| registers(layout)).collect();
    let word = (32 / element_bits).ilog2() as usize;
    let line = (target.shared.banks[0].banks * 32 / element_bits).ilog2();
    let segments = subspaces(bits, bits.saturating_sub(line) as usize);
    let widest = ((128 / element_bits).ilog2() as usize).min(bits as usize);
    let mut min_wavefronts = u64::MAX;
    for low in beginnings(bits, word, widest, &register_spans) {
        let span = Subspace::span(low.iter().copied());
        for segment in segments.iter().filter(|segment| segment.intersection(&span).dimension() == 0) {
            let taken = Subspace::span(low.iter().chain(segment.basis()).copied());
            let columns: Vec<u64> =
                low.iter().chain(&taken.extend_basis(bits, &[])).chain(segment.basis()).copied().collect();
            min_wavefronts = min_wavefronts.min(wavefronts(&accesses, &columns, element_bits, target));
        }
    }
    min_wavefronts
}

fn wavefronts(accesses: &[(Accesses, u64)], columns: &[u64], element_bits: u32, target: &TargetDescription) -> u64 {
    let mut offsets = vec![0; 1 << columns.len()];
    for offset in 0..1u64 << columns.len() {
        let set = columns.iter().enumerate().filter(|(bit, _)| offset >> bit & 1 == 1);
        offsets[set.fold(0, |sum, (_, column)| sum ^ column) as usize] = offset;
    }
    accesses.iter().map(|(accesses, weight)| weight * accesses.wavefronts(&offsets, element_bits, target)).sum()
}

struct Case {
    lane_bits: u32,
    bank_bits: u32,
    warp_bits: usize,
    bits: u32,
    element_bits: u32,
    accessors: usize,
    copies: usize,
    mixes: usize,
}

fn check(case: &Case, source: &mut SeededRng) {
    let target = small(case.lane_bits, case.bank_bits);
    let accessors: Vec<(LinearLayout, Direction, u64)> = (0..case.accessors)
        .map(|at| {
            let direction = if at == 0 { Direction::Store } else { Direction::Load };
            let spare = if at == 1 { case.copies } else { 0 };
            let layout = random(source, case.lane_bits as usize, case.warp_bits, case.bits, spare, case.mixes);
            (layout, direction, if case.accessors > 2 { 1 + source.below(3) as u64 } else { 1 })
        })
        .collect();
    let requested: Vec<SharedMemoryAccessor> = (accessors.iter())
        .map(|(layout, direction, weight)| SharedMemoryAccessor {
            direction: *direction,
            ..SharedMemoryAccessor::store(layout.clone()).with_weight(*weight)
        })
        .collect();
    let choice = choose_shared_layout(
        &requested,
        case.element_bits,
        &SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Swizzle),
        &target,
    )
    .expect("a choice");
    let chosen = choice.chosen();
    let accesses: Vec<(Accesses, u64)> =
        accessors.iter().map(|(layout, direction, weight)| (Accesses::of(layout, *direction), *weight)).collect();
    let counted = wavefronts(&accesses, chosen.memory.linear.columns(), case.element_bits, &target);
    let shown =
        || accessors.iter().map(|(layout, _, weight)| format!("{weight} times\n{layout}\n")).collect::<String>();
    assert_eq!(chosen.weighted_wavefronts(), counted, "{}", shown());
    assert!(choice.lower_bound <= counted, "{} {}", choice.lower_bound, shown());
    let by_counting: u64 =
        accesses.iter().map(|(one, weight)| weight * one.fewest_by_counting(case.element_bits, &target)).sum();
    assert!(by_counting <= counted, "{by_counting} of {counted}: {}", shown());
    if by_counting == counted {
        // No layout can be better.
        return;
    }
    let min_wavefronts = fewest(&accessors, case.bits, case.element_bits, &target);
    assert_eq!(
        counted,
        min_wavefronts,
        "{:?} {:?}\n{} lanes, {} banks, elements of {} bits\n{}",
        chosen.memory.linear.columns(),
        chosen.accessors,
        1 << case.lane_bits,
        1 << case.bank_bits,
        case.element_bits,
        shown()
    );
}

fn check_all(cases: &[Case], rounds: usize) {
    let mut source = SeededRng::new(7);
    for case in cases {
        for _ in 0..rounds {
            check(case, &mut source);
        }
    }
}

const WORDS: Case =
    Case { lane_bits: 3, bank_bits: 3, warp_bits: 0, bits: 6, element_bits: 32, accessors: 2, copies: 0, mixes: 0 };

const OF_TWO: [Case; 5] = [
    Case { bits: 5, ..WORDS },
    Case { bits: 5, mixes: 4, ..WORDS },
    Case { lane_bits: 2, bank_bits: 2, bits: 5, mixes: 3, ..WORDS },
    Case { lane_bits: 2, bank_bits: 3, bits: 5, copies: 1, ..WORDS },
    Case { lane_bits: 3, bank_bits: 2, bits: 5, ..WORDS },
];

const OF_SEVERAL: [Case; 2] =
    [Case { accessors: 3, bits: 5, mixes: 3, ..WORDS }, Case { accessors: 4, bits: 5, ..WORDS }];

const NARROW: [Case; 3] = [
    Case { element_bits: 16, bits: 5, ..WORDS },
    Case { element_bits: 16, bits: 5, mixes: 4, lane_bits: 2, bank_bits: 2, ..WORDS },
    Case { element_bits: 8, bits: 5, lane_bits: 2, bank_bits: 2, ..WORDS },
];

/// Returns the divisions of a store of words among lanes that hold replicas, as layouts without these replicas,
/// each with its number of selects. A lane bit without an element of its own gets any element of the registers, and the
/// registers keep any complement of these elements.
fn shared_stores(layout: &LinearLayout, lane_bits: usize, bits: u32) -> Vec<(LinearLayout, u64)> {
    let [registers, lanes] = [Dim::REGISTER, Dim::LANE].map(|dim| layout.columns_of(dim).to_vec());
    let own = Subspace::span(registers);
    let elements: Vec<u64> = (0..1u64 << own.dimension()).map(|index| multiply_vector(own.basis(), index)).collect();
    let mut all = vec![lanes.clone()];
    for at in (0..lanes.len()).filter(|&at| lanes[at] == 0) {
        let with = |lanes: &Vec<u64>, element: u64| {
            let mut lanes = lanes.clone();
            lanes[at] = element;
            lanes
        };
        all = all.iter().flat_map(|lanes| elements.iter().map(move |&element| with(lanes, element))).collect();
    }
    let mut stores = Vec::new();
    for shared in all {
        let given: Vec<u64> = shared.iter().zip(&lanes).filter(|(new, old)| new != old).map(|(new, _)| *new).collect();
        let mut space = Subspace::zero();
        if !given.iter().all(|&element| space.insert(element)) {
            continue;
        }
        let kept: Vec<u64> = own.basis().iter().copied().filter(|&element| space.insert(element)).collect();
        let selects = (1 << kept.len()) * ((1 << given.len()) - 1);
        for complement in 0..1u64 << (kept.len() * given.len()) {
            let moved =
                |(at, element): (usize, &u64)| element ^ multiply_vector(&given, complement >> (at * given.len()));
            let columns: Vec<u64> = kept.iter().enumerate().map(moved).chain(shared.iter().copied()).collect();
            stores.push((layouts::layout(&columns, lane_bits, 0, bits), selects));
        }
    }
    stores
}

/// Checks that sharing the work of replicas has the lowest price of all linear divisions and all linear layouts, a
/// select being a quarter of a wavefront.
#[test]
fn no_sharing_of_replicas_is_cheaper() {
    let target = small(3, 3);
    let mut source = SeededRng::new(11);
    let mut gained = 0;
    for _ in 0..6 {
        let stored = loop {
            let stored = random(&mut source, 3, 0, 5, 1, 0);
            if stored.columns_of(Dim::LANE).contains(&0) {
                break stored;
            }
        };
        let loaded = random(&mut source, 3, 0, 5, 0, 2);
        let requested = [SharedMemoryAccessor::store(stored.clone()), SharedMemoryAccessor::load(loaded.clone())];
        let choice = choose_shared_layout(
            &requested,
            32,
            &SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Swizzle),
            &target,
        );
        let choice = choice.expect("a choice");
        let stats = &choice.chosen().accessors;
        let price = 4 * choice.chosen().weighted_wavefronts() + stats[0].selects;
        let load = || (loaded.clone(), Direction::Load, 1);
        let by = |(store, selects): (LinearLayout, u64)| {
            (fewest(&[(store, Direction::Store, 1), load()], 5, 32, &target), selects)
        };
        let all: Vec<(u64, u64)> = shared_stores(&stored, 3, 5).into_iter().map(by).collect();
        let cheapest = all.iter().map(|(wavefronts, selects)| 4 * wavefronts + selects).min().expect("a way");
        let fewest = all.iter().map(|(wavefronts, _)| *wavefronts).min().expect("a way");
        assert!(choice.lower_bound <= fewest, "{} of {fewest}: {stored}", choice.lower_bound);
        assert_eq!(price, cheapest, "{stats:?}\n{stored}\n{loaded}");
        gained += stats[0].selects;
    }
    assert!(gained > 0, "some lanes share");
}

#[test]
fn one_writer_and_one_reader_of_words() {
    check_all(&OF_TWO, 2);
}

#[test]
fn several_readers_of_words() {
    check_all(&OF_SEVERAL, 2);
}

#[test]
fn elements_narrower_than_a_bank() {
    check_all(&NARROW, 2);
}

#[test]
fn all_of_six_bits() {
    check_all(&OF_TWO, 4);
    check_all(&NARROW, 4);
    check_all(&OF_SEVERAL, 3);
    check_all(&[Case { ..WORDS }, Case { mixes: 5, ..WORDS }, Case { warp_bits: 1, copies: 1, ..WORDS }], 2);
    check_all(&[Case { accessors: 3, mixes: 3, ..WORDS }], 1);
}

#[test]
fn all_of_eight_bits() {
    let large = Case { bits: 8, warp_bits: 1, lane_bits: 3, ..WORDS };
    check_all(&[Case { ..large }, Case { mixes: 5, ..large }, Case { bits: 7, accessors: 3, ..large }], 1);
    check_all(&[Case { element_bits: 16, bits: 6, mixes: 3, ..large }, Case { element_bits: 8, bits: 6, ..large }], 1);
}
