//! Wavefronts of fictitious machines: the byte-wise definition against any bank entry.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tilewright_target::{
    BankTableEntry, Direction, Evidence, PairedLanePhases, count_access_wavefronts, count_masked_linear_wavefronts,
};

fn row(banks: u32, bank_bytes: u32, phase: &[u64]) -> BankTableEntry {
    BankTableEntry {
        directions: vec![Direction::Load],
        access_bits: vec![32],
        instruction: None,
        banks,
        bank_bytes,
        phase: phase.to_vec(),
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "made up".to_owned(),
    }
}

/// Returns the xor of every subset of the vectors that span a phase.
fn span(phase: &[u64]) -> BTreeSet<u64> {
    phase.iter().fold(BTreeSet::from([0]), |space, vector| space.iter().flat_map(|v| [*v, v ^ vector]).collect())
}

/// The wavefronts by definition: lanes that differ by a vector of the phase are served together, those of the larger
/// phase of pairs if each active lane has the address of an active partner; byte by byte, each
/// bank collects its accessed words. Phases without active lanes count once if `idle_phases` is set.
fn by_bytes(row: &BankTableEntry, addresses: &[Option<u64>], bytes: u32) -> u64 {
    let space = span(phase_of(row, addresses));
    let mut required: BTreeMap<u64, BTreeMap<u64, BTreeSet<u64>>> = BTreeMap::new();
    for (lane, address) in addresses.iter().enumerate() {
        let Some(address) = *address else { continue };
        let phase = space.iter().map(|v| v ^ lane as u64).min().unwrap_or(0);
        for byte in address..address + u64::from(bytes) {
            let word = byte / u64::from(row.bank_bytes);
            required.entry(phase).or_default().entry(word % u64::from(row.banks)).or_default().insert(word);
        }
    }
    if row.idle_phases && addresses.iter().any(Option::is_some) {
        let lanes = 0..addresses.len().next_power_of_two() as u64;
        for lane in lanes {
            let phase = space.iter().map(|v| v ^ lane).min().unwrap_or(0);
            required.entry(phase).or_default().entry(0).or_insert_with(|| BTreeSet::from([u64::MAX]));
        }
    }
    required.values().map(|banks| banks.values().map(BTreeSet::len).max().unwrap_or(0) as u64).sum()
}

/// The phase of an access, by comparing the addresses of all lanes with those of their partners.
fn phase_of<'a>(row: &'a BankTableEntry, addresses: &[Option<u64>]) -> &'a [u64] {
    let at = |lane: u64| addresses.get(lane as usize).copied().flatten();
    let equal = |lane: u64, other: u64| at(lane).is_none() || at(other).is_none() || at(lane) == at(other);
    let lanes = addresses.len() as u64;
    match &row.paired {
        Some(paired) if paired.lanes.iter().any(|v| (0..lanes).all(|lane| equal(lane, lane ^ v))) => &paired.phase,
        _ => &row.phase,
    }
}

fn any_row() -> impl Strategy<Value = BankTableEntry> {
    let vectors = |most| prop::collection::vec(0..64u64, 0..most);
    let paired = (prop::collection::vec(1..16u64, 1..3), vectors(6))
        .prop_map(|(lanes, phase)| PairedLanePhases { lanes, phase });
    (0..7u32, 0..5u32, vectors(6), any::<bool>(), prop::option::of(paired)).prop_map(
        |(banks, bytes, phase, idle_phases, paired)| BankTableEntry {
            idle_phases,
            paired,
            ..row(1 << banks, 1 << bytes, &phase)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every lane is in one phase, and lanes share a phase if they differ by a vector of the entry's span; an entry may
    /// have more lanes than the warp.
    #[test]
    fn phases_are_cosets(row in any_row(), bits in 0..7u32, is_paired in any::<bool>()) {
        let addresses: Vec<_> = (0..1u64 << bits).map(|lane| Some(if is_paired { 0 } else { 4 * lane })).collect();
        let phases = row.lanes_of_phases(&addresses);
        let of = |lane: u64| phases.iter().position(|phase| phase.contains(&lane));
        prop_assert_eq!(phases.iter().map(Vec::len).sum::<usize>(), 1 << bits);
        let space = span(phase_of(&row, &addresses));
        for lane in 0..1u64 << bits {
            prop_assert!(of(lane).is_some());
            for other in 0..1u64 << bits {
                prop_assert_eq!(of(lane) == of(other), space.contains(&(lane ^ other)));
            }
        }
    }

    /// Wavefronts follow the definition, also with fewer lanes than the phase has, numbers of lanes that are no power
    /// of two, and accesses of any width at any address.
    #[test]
    fn wavefronts_follow_the_definition(
        row in any_row(),
        addresses in prop::collection::vec(prop::option::weighted(0.8, 0..600u64), 0..70),
        bytes in 0..40u32,
        copied in prop_oneof![Just(0usize), 1..16usize],
    ) {
        // Each lane reads the address of the lane without the bits of `copied`.
        let addresses: Vec<_> = (0..addresses.len()).map(|lane| addresses[lane & !copied]).collect();
        prop_assert_eq!(count_access_wavefronts(&row, &addresses, bytes), by_bytes(&row, &addresses, bytes));
    }

    #[test]
    fn linear_accesses_have_the_wavefronts_of_their_addresses(
        row in any_row(),
        slots in prop::collection::vec(0..128u64, 0..7),
        bytes in 1..24u32,
        aligned in any::<bool>(),
        idle in prop_oneof![Just(0u64), 0..128u64],
    ) {
        let bases: Vec<u64> = slots.iter().map(|slot| if aligned { slot * u64::from(bytes) } else { *slot }).collect();
        let address = |lane: usize| {
            let set = bases.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1);
            set.fold(0, |sum, (_, basis)| sum ^ basis)
        };
        let addresses: Vec<_> = (0..1 << bases.len()).map(|lane| (lane as u64 & idle == 0).then(|| address(lane))).collect();
        prop_assert_eq!(count_masked_linear_wavefronts(&row, &bases, idle, bytes), by_bytes(&row, &addresses, bytes));
    }
}

/// All machines of two banks and two lanes, all pairs of byte addresses: a complete enumeration.
#[test]
fn two_banks_two_lanes() {
    let (together, separate) = (row(2, 1, &[1]), row(2, 1, &[]));
    for (first, second) in (0..4u64).flat_map(|a| (0..4u64).map(move |b| (a, b))) {
        let conflict = first != second && first % 2 == second % 2;
        let addresses = [Some(first), Some(second)];
        assert_eq!(count_access_wavefronts(&together, &addresses, 1), if conflict { 2 } else { 1 }, "{first} {second}");
        assert_eq!(count_access_wavefronts(&separate, &addresses, 1), 2, "{first} {second}");
    }
}

#[test]
fn an_access_across_words_counts_both() {
    let row_of_banks = row(4, 4, &[1]);
    assert_eq!(count_access_wavefronts(&row_of_banks, &[Some(2)], 4), 1, "two words, two banks");
    assert_eq!(
        count_access_wavefronts(&row_of_banks, &[Some(2), Some(16)], 4),
        2,
        "the second lane's word is in the first one's bank"
    );
    assert_eq!(count_access_wavefronts(&row_of_banks, &[Some(2), Some(4)], 4), 1, "the word in common is given once");
}

#[test]
fn addresses_at_the_end_of_the_number_range_are_counted() {
    assert_eq!(count_access_wavefronts(&row(32, 4, &[1]), &[Some(u64::MAX), Some(u64::MAX - 1)], 8), 1);
}
