//! Banks of shared memory, and the one place where addresses become wavefronts.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// Whether data goes to memory or comes from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From registers to memory.
    Store,
    /// From memory to registers.
    Load,
}

/// How shared memory serves accesses of one direction and some widths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankRow {
    /// The directions that this row is for.
    pub directions: Vec<Direction>,
    /// The access widths that this row is for, in bits per lane.
    pub access_bits: Vec<u32>,
    /// The instruction that this row is for; absent for plain loads and stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Number of banks, a power of two.
    pub banks: u32,
    /// Bytes that a bank gives in one wavefront, a power of two.
    pub bank_bytes: u32,
    /// Basis of the group of lanes served together (a phase): lane numbers as vectors over F2. The
    /// phases are the cosets of its span.
    pub phase: Vec<u64>,
    /// How this is known.
    pub evidence: Evidence,
    /// Where it comes from.
    pub source: String,
}

impl BankRow {
    /// Bytes that one wavefront can move.
    #[must_use]
    pub fn wavefront_bytes(&self) -> u64 {
        u64::from(self.banks) * u64::from(self.bank_bytes)
    }
}

/// The number of wavefronts that one access of a warp takes.
///
/// `addresses[lane]` is the byte address at which the lane accesses `bytes` bytes; lanes that take
/// no part are `None`. The lanes of a phase are served together. Each bank gives one word of
/// `bank_bytes` in a wavefront, to all lanes that want it; a phase takes as many wavefronts as its
/// busiest bank has different words, and phases follow each other.
#[must_use]
pub fn wavefronts(row: &BankRow, addresses: &[Option<u64>], bytes: u32) -> u64 {
    let phase = crate::f2::Subspace::span(row.phase.iter().copied());
    // The coset of a lane is what is left of its number once the phase's span is taken out.
    let mut phases: std::collections::BTreeMap<u64, Vec<u64>> = std::collections::BTreeMap::new();
    for (lane, address) in addresses.iter().enumerate() {
        if let Some(address) = address {
            let width = u64::from(row.bank_bytes);
            let words = address / width..(address + u64::from(bytes)).div_ceil(width);
            phases.entry(phase.reduce(lane as u64)).or_default().extend(words);
        }
    }
    phases.into_values().map(|words| busiest_bank(row, words)).sum()
}

fn busiest_bank(row: &BankRow, mut words: Vec<u64>) -> u64 {
    words.sort_unstable();
    words.dedup();
    let mut load = vec![0u64; row.banks.max(1) as usize];
    for word in words {
        load[(word % u64::from(row.banks.max(1))) as usize] += 1;
    }
    load.into_iter().max().unwrap_or(0)
}
