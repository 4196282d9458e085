//! Computes the shared-memory wavefronts of an access: the lanes that each bank serves in each wavefront.

use tilewright_target::BankTableEntry;

use super::access::{Access, WarpAccesses};

/// One wavefront of an access: the word that each bank serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wavefront {
    /// The phase of the wavefront: the group of lanes that are served together.
    pub phase: usize,
    /// Index of the wavefront within its phase; every wavefront but the first is due to a bank conflict.
    pub pass: usize,
    /// The word that each bank serves; `None` for an idle bank.
    pub banks: Vec<Option<Word>>,
}

/// A word of a bank, with the lanes that access it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The word's byte address divided by the bank width.
    pub bank_word: u64,
    /// The lanes that access the word.
    pub lanes: Vec<u64>,
    /// The elements that the lanes in `lanes` access in the word. Each is one number: its coordinates in the memory's
    /// tensor, packed with the first dim in the lowest bits.
    pub elements: Vec<u64>,
}

/// Returns the wavefronts of an access. The lanes of a phase are served together; in each wavefront a bank serves one
/// word to all lanes that access it, in lane order.
pub(super) fn wavefronts(row: &BankTableEntry, accesses: &WarpAccesses, access: &Access) -> Vec<Wavefront> {
    let mut all = Vec::new();
    for (phase, lanes) in row.lanes_of_phases(&access.addresses).iter().enumerate() {
        let banks = words(row, accesses, access, lanes);
        let passes = banks.iter().map(Vec::len).max().unwrap_or(0);
        for pass in 0..passes {
            let banks = banks.iter().map(|words| words.get(pass).cloned()).collect();
            all.push(Wavefront { phase, pass, banks });
        }
    }
    all
}

/// Returns for each bank the distinct words that the lanes of a phase access.
fn words(row: &BankTableEntry, accesses: &WarpAccesses, access: &Access, lanes: &[u64]) -> Vec<Vec<Word>> {
    let mut banks: Vec<Vec<Word>> = vec![Vec::new(); row.banks as usize];
    for &lane in lanes {
        let Some(Some(first)) = access.addresses.get(lane as usize).copied() else { continue };
        for byte in first..first + accesses.bytes() {
            let element = access.lane_elements[lane as usize][((byte - first) / accesses.element_bytes) as usize];
            let bank_word = byte / u64::from(row.bank_bytes);
            let Some(bank) = banks.get_mut(row.bank_of_address(byte) as usize) else { continue };
            let at = bank.iter().position(|word| word.bank_word == bank_word).unwrap_or_else(|| {
                bank.push(Word { bank_word, ..Word::default() });
                bank.len() - 1
            });
            let word = &mut bank[at];
            if !word.lanes.contains(&lane) {
                word.lanes.push(lane);
            }
            if !word.elements.contains(&element) {
                word.elements.push(element);
            }
        }
    }
    banks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tilewright_target::{Direction, Evidence, PairedLanePhases};

    use super::*;

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

    fn any_row() -> impl Strategy<Value = BankTableEntry> {
        let paired = prop::option::of(Just(PairedLanePhases { lanes: vec![1, 2], phase: vec![1, 2, 4, 8] }));
        (0..6u32, 0..4u32, prop::collection::vec(0..16u64, 0..5), paired)
            .prop_map(|(banks, bytes, phase, paired)| BankTableEntry { paired, ..row(1 << banks, 1 << bytes, &phase) })
    }

    proptest! {
        /// The number of wavefronts is the one that the target's description gives, and each bank that has bytes of a
        /// lane serves it exactly once.
        #[test]
        fn every_lane_is_served_once_in_the_counted_wavefronts(
            row in any_row(),
            addresses in prop::collection::vec(prop::option::weighted(0.8, 0..200u64), 16),
            elements in 1..9u64,
            distinct in prop::sample::select(vec![15usize, 14, 13, 0]),
        ) {
            let addresses: Vec<_> = (0..16).map(|lane| addresses[lane & distinct]).collect();
            let accesses = WarpAccesses { elements, element_bytes: 2, list: Vec::new() };
            let lane_elements = (0..16).map(|lane| (0..elements).map(|element| lane * 16 + element).collect()).collect();
            let access = Access { registers: Vec::new(), addresses: addresses.clone(), lane_elements };
            let found = wavefronts(&row, &accesses, &access);
            let bytes = accesses.bytes();
            let counted = tilewright_target::count_access_wavefronts(&row, &addresses, bytes as u32);
            prop_assert_eq!(found.len() as u64, counted);
            for (lane, first) in addresses.iter().enumerate() {
                let served = found.iter().flat_map(|wavefront| wavefront.banks.iter().flatten());
                let words: Vec<u64> =
                    served.filter(|word| word.lanes.contains(&(lane as u64))).map(|word| word.bank_word).collect();
                let width = u64::from(row.bank_bytes);
                let mut required: Vec<u64> = match first {
                    Some(first) => (*first..first + bytes).map(|byte| byte / width).collect(),
                    None => Vec::new(),
                };
                required.dedup();
                prop_assert_eq!(sorted(words), required);
            }
        }
    }

    fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
        numbers.sort_unstable();
        numbers
    }
}
