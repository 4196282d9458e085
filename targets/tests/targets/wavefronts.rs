//! Tests of shared-memory wavefronts on the built-in targets, against naive counts from the vendors' documents.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proptest::prelude::*;
use tilewright_target::{BankTableEntry, Direction, TargetCatalogue, count_access_wavefronts, count_linear_wavefronts};
use tilewright_targets::read_catalogue_with_search_path;

use Direction::{Load, Store};

/// The documented behaviour of shared-memory banks for one kind of access.
struct Words {
    target: &'static str,
    directions: &'static [Direction],
    bits: &'static [u32],
    /// Number of lanes of the warp.
    lanes: usize,
    /// The groups of lanes that are served together.
    phases: Vec<Vec<usize>>,
    banks: u64,
    /// Whether groups without active lanes take a wavefront, as measured.
    idle: bool,
    /// Whether two groups are served together if lanes of even and odd numbers, or every other pair of them, read the
    /// same addresses.
    paired: bool,
}

fn ranges(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Vec<usize>> {
    ranges.into_iter().map(Iterator::collect).collect()
}

/// Returns `lanes` lanes in groups of `together` consecutive ones.
fn consecutive(lanes: usize, together: usize) -> Vec<Vec<usize>> {
    ranges((0..lanes / together).map(|phase| phase * together..(phase + 1) * together))
}

/// Returns the eight groups of lanes that a 128-bit read of the local data share serves together, as AMD lists them.
fn interleaved() -> Vec<Vec<usize>> {
    vec![
        vec![0, 1, 2, 3, 20, 21, 22, 23],
        vec![4, 5, 6, 7, 16, 17, 18, 19],
        vec![8, 9, 10, 11, 28, 29, 30, 31],
        vec![12, 13, 14, 15, 24, 25, 26, 27],
        vec![32, 33, 34, 35, 52, 53, 54, 55],
        vec![36, 37, 38, 39, 48, 49, 50, 51],
        vec![40, 41, 42, 43, 60, 61, 62, 63],
        vec![44, 45, 46, 47, 56, 57, 58, 59],
    ]
}

/// Returns the four groups of sixteen lanes that a 128-bit read with 64 banks serves together, as measured.
fn interleaved_by_sixteen() -> Vec<Vec<usize>> {
    let half = [
        [0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27],
        [4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31],
    ];
    let upper = half.map(|lanes| lanes.map(|lane| lane + 32));
    half.into_iter().chain(upper).map(Vec::from).collect()
}

const NVIDIA: [&str; 7] = ["a100", "rtx4090", "rtx5090", "h100", "gh200", "h200", "b200"];

fn all_words() -> Vec<Words> {
    const BOTH: &[Direction] = &[Store, Load];
    const NARROW: &[u32] = &[8, 16, 32];
    let mut all = Vec::new();
    let mut add = |target, directions, bits, lanes, phases, banks| {
        let idle = ["h100", "gh200", "h200"].contains(&target) && bits != NARROW;
        let paired = NVIDIA.contains(&target) && directions == [Load] && bits != NARROW;
        all.push(Words { target, directions, bits, lanes, phases, banks, idle, paired });
    };
    for target in NVIDIA {
        add(target, BOTH, NARROW, 32, consecutive(32, 32), 32);
        for direction in [&[Store], &[Load]] {
            add(target, direction, &[64], 32, ranges([0..16, 16..32]), 32);
            add(target, direction, &[128], 32, ranges([0..8, 8..16, 16..24, 24..32]), 32);
        }
    }
    for target in ["mi100", "mi250", "mi300x"] {
        add(target, BOTH, NARROW, 64, ranges([0..32, 32..64]), 32);
        add(target, BOTH, &[64], 64, ranges([0..16, 16..32, 32..48, 48..64]), 32);
        add(target, &[Load], &[128], 64, interleaved(), 32);
        add(target, &[Store], &[128], 64, consecutive(64, 8), 32);
    }
    add("mi355x", BOTH, NARROW, 64, ranges([0..32, 32..64]), 32);
    add("mi355x", &[Load], &[64], 64, ranges([0..32, 32..64]), 64);
    add("mi355x", &[Store], &[64], 64, consecutive(64, 16), 32);
    add("mi355x", &[Load], &[128], 64, interleaved_by_sixteen(), 64);
    add("mi355x", &[Store], &[128], 64, consecutive(64, 8), 32);
    for lanes in [32, 64] {
        for target in ["rx7900xtx", "rx9070xt"] {
            add(target, BOTH, NARROW, lanes, consecutive(lanes, 32), 32);
            add(target, BOTH, &[64], lanes, consecutive(lanes, 16), 32);
        }
        add("rx7900xtx", &[Load], &[128], lanes, interleaved()[..lanes / 8].to_vec(), 32);
        add("rx7900xtx", &[Store], &[128], lanes, consecutive(lanes, 8), 32);
        add("rx9070xt", BOTH, &[128], lanes, consecutive(lanes, 8), 32);
    }
    for (target, choices) in [("max1550", [16, 32].as_slice()), ("a770", &[8, 16, 32]), ("b580", &[16, 32])] {
        for &lanes in choices {
            add(target, BOTH, NARROW, lanes, consecutive(lanes, lanes.min(16)), 16);
            add(target, BOTH, &[64], lanes, consecutive(lanes, 8), 16);
            add(target, BOTH, &[128], lanes, consecutive(lanes, 4), 16);
        }
    }
    all
}

/// Counts wavefronts naively: each phase (group of lanes) takes as many as the most different 4-byte words in one bank.
/// With `idle`, a phase without active lanes takes one. With `paired`, two consecutive phases are one if partners read
/// the same address.
fn count(row: &Words, addresses: &[Option<u64>], bytes: u64) -> u64 {
    let mut total = 0;
    let least = u64::from(row.idle && addresses.iter().any(Option::is_some));
    let is_equal = |(one, other): (Option<u64>, Option<u64>)| one.is_none() || other.is_none() || one == other;
    let are_pairs = |distance| (0..row.lanes).all(|lane| is_equal((addresses[lane], addresses[lane ^ distance])));
    let together = if row.paired && (are_pairs(1) || are_pairs(2)) { 2 } else { 1 };
    for phase in row.phases.chunks(together).map(<[_]>::concat) {
        let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for &lane in &phase {
            let Some(address) = addresses[lane] else { continue };
            for byte in address..address + bytes {
                words.entry(byte / 4 % row.banks).or_default().insert(byte / 4);
            }
        }
        total += least.max(words.values().map(BTreeSet::len).max().unwrap_or(0) as u64);
    }
    total
}

fn built_in() -> TargetCatalogue {
    read_catalogue_with_search_path(None).expect("the built-in files read")
}

fn row(catalogue: &TargetCatalogue, target: &str, direction: Direction, bits: u32) -> BankTableEntry {
    let target = catalogue.get(target).expect("the target is built in");
    target.find_bank_row(direction, bits).expect("there is a row").clone()
}

#[test]
fn every_row_of_every_target_has_its_bank_words() {
    let words = all_words();
    for target in built_in().iter() {
        for row in &target.shared.banks {
            for (&direction, &bits) in row.directions.iter().flat_map(|d| row.access_bits.iter().map(move |b| (d, b))) {
                for &lanes in &target.lanes.choices {
                    let written = words.iter().filter(|words| {
                        words.target == target.name
                            && words.lanes == lanes as usize
                            && words.directions.contains(&direction)
                            && words.bits.contains(&bits)
                    });
                    assert_eq!(written.count(), 1, "{} {direction:?} {bits} bits, {lanes} lanes", target.name);
                }
            }
        }
    }
}

#[test]
fn the_words_name_every_lane_once() {
    for words in all_words() {
        let mut lanes: Vec<usize> = words.phases.concat();
        lanes.sort_unstable();
        assert_eq!(lanes, (0..words.lanes).collect::<Vec<_>>(), "{} {:?}", words.target, words.bits);
    }
}

/// Generates addresses of a warp's lanes as in programs: strided, arbitrary, or few and scattered.
fn addresses(lanes: usize, bytes: u64) -> impl Strategy<Value = Vec<Option<u64>>> {
    let strided = (0..64u64, 0..160u64).prop_map(move |(start, stride)| {
        (0..lanes as u64).map(|lane| (start + lane * stride) * bytes).collect::<Vec<_>>()
    });
    let aligned = prop::collection::vec((0..256u64).prop_map(move |slot| slot * bytes), lanes);
    let unaligned = prop::collection::vec(0..2048u64, lanes);
    let crowded = prop::collection::vec(prop::sample::select(vec![0, 128, 256, 1024, 4096 - bytes]), lanes);
    let all = prop_oneof![strided, aligned, unaligned, crowded];
    let active = prop_oneof![
        Just(vec![true; lanes]),
        prop::collection::vec(any::<bool>(), lanes),
        prop::collection::vec(prop::bool::weighted(0.1), lanes)
    ];
    (all, active).prop_map(|(all, active)| {
        all.into_iter().zip(active).map(|(address, active)| active.then_some(address)).collect()
    })
}

fn lane_bases(lanes: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..64u64, lanes.trailing_zeros() as usize)
}

#[test]
fn wavefronts_follow_from_the_bank_words() {
    let catalogue = built_in();
    for words in all_words() {
        for (&direction, &bits) in words.directions.iter().flat_map(|d| words.bits.iter().map(move |b| (d, b))) {
            let row = row(&catalogue, words.target, direction, bits);
            let bytes = bits / 8;
            let mut runner = proptest::test_runner::TestRunner::deterministic();
            let strategy = addresses(words.lanes, u64::from(bytes));
            let outcome = runner.run(&strategy, |addresses| {
                let expected = count(&words, &addresses, u64::from(bytes));
                prop_assert_eq!(count_access_wavefronts(&row, &addresses, bytes), expected);
                Ok(())
            });
            outcome.unwrap_or_else(|error| panic!("{} {direction:?} {bits} bits: {error}", words.target));
        }
    }
}

#[test]
fn linear_wavefronts_follow_from_the_bank_words() {
    let catalogue = built_in();
    for words in all_words() {
        for (&direction, &bits) in words.directions.iter().flat_map(|d| words.bits.iter().map(move |b| (d, b))) {
            let row = row(&catalogue, words.target, direction, bits);
            let bytes = bits / 8;
            let mut runner = proptest::test_runner::TestRunner::deterministic();
            let outcome = runner.run(&(lane_bases(words.lanes), 0..64u64), |(slots, start)| {
                let bases: Vec<u64> = slots.iter().map(|slot| slot * u64::from(bytes)).collect();
                let address = |lane: usize| {
                    let set = bases.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1);
                    set.fold(start * u64::from(bytes), |sum, (_, basis)| sum ^ basis)
                };
                let addresses: Vec<_> = (0..words.lanes).map(|lane| Some(address(lane))).collect();
                let expected = count(&words, &addresses, u64::from(bytes));
                prop_assert_eq!(count_linear_wavefronts(&row, &bases, bytes), expected);
                Ok(())
            });
            outcome.unwrap_or_else(|error| panic!("{} {direction:?} {bits} bits: {error}", words.target));
        }
    }
}

/// Strided accesses of 32 lanes to 32 banks of 4 bytes have the textbook numbers of conflicts.
#[test]
fn textbook_strides() {
    let catalogue = built_in();
    for (bits, stride_bytes, expected) in [
        (32, 4, 1),     // consecutive words
        (32, 0, 1),     // one word for all
        (32, 8, 2),     // two-way conflict
        (32, 12, 1),    // odd strides are free of conflicts
        (32, 16, 4),    // four-way
        (32, 128, 32),  // a column of a 32 x 32 tile of words
        (32, 132, 1),   // the same with a word of padding
        (8, 1, 1),      // four lanes a word
        (16, 2, 1),     // two lanes a word
        (16, 4, 1),     // one lane a word, half of it
        (8, 128, 32),   // sub-words in one bank
        (64, 8, 2),     // 256 bytes
        (64, 16, 4),    // each half warp twice over the banks
        (128, 16, 4),   // 512 bytes
        (128, 32, 8),   // each quarter warp twice
        (128, 128, 32), // a column of 16-byte pieces of 128-byte rows
        (128, 144, 4),  // the same with 16 bytes of padding
        (128, 0, 4),    // each quarter warp separately; loads of pairs take half
        (64, 0, 2),     // each half warp
    ] {
        let addresses: Vec<_> = (0..32).map(|lane| Some(lane * stride_bytes)).collect();
        for direction in [Store, Load] {
            let row = row(&catalogue, "a100", direction, bits);
            let found = count_access_wavefronts(&row, &addresses, bits / 8);
            let merged = if direction == Load && stride_bytes == 0 && bits > 32 { 2 } else { 1 };
            assert_eq!(found * merged, expected, "{direction:?} {bits} bits, {stride_bytes} bytes apart");
        }
    }
}

/// If stores serve eight consecutive lanes and loads two separate groups of four, a layout can be good for the one and
/// bad for the other.
#[test]
fn interleaved_phases_distinguish_loads_from_stores() {
    let catalogue = built_in();
    let (load, store) = (row(&catalogue, "mi300x", Load, 128), row(&catalogue, "mi300x", Store, 128));
    // Lanes 0-3 and 20-23 access the same four 16-byte columns of different rows; so do all such pairs.
    let address = |lane: u64| (lane & 3) * 16 + ((lane >> 2 ^ lane >> 4) & 1) * 64 + (lane >> 2) * 128;
    let addresses: Vec<_> = (0..64).map(|lane| Some(address(lane))).collect();
    let words = all_words();
    for (direction, expected) in [(Load, 16), (Store, 8)] {
        let of_access = |words: &&Words| words.directions.contains(&direction) && words.bits == [128];
        let words = words.iter().filter(|words| words.target == "mi300x").find(of_access).expect("there are words");
        assert_eq!(count(words, &addresses, 16), expected);
    }
    assert_eq!(count_access_wavefronts(&load, &addresses, 16), 16);
    assert_eq!(count_access_wavefronts(&store, &addresses, 16), 8);
}

#[test]
fn no_lane_takes_no_wavefront() {
    for target in built_in().iter() {
        for row in &target.shared.banks {
            assert_eq!(
                count_access_wavefronts(row, &vec![None; target.lanes.default as usize], row.access_bits[0] / 8),
                0
            );
        }
    }
}
