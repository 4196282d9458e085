//! Banks of shared memory, and the single implementation that counts wavefronts from addresses.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::Evidence;
use tilewright_layout::f2::Subspace;

/// The direction of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From registers to memory.
    Store,
    /// From memory to registers.
    Load,
}

/// An entry of a target's bank table: the banks of shared memory for accesses of some directions and widths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct BankTableEntry {
    /// The directions (loads, stores or both) of the accesses that this entry describes.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub directions: Vec<Direction>,
    /// The access widths that this entry describes, in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// Name of the instruction that this entry describes, as in the instruction table; `None` for plain loads and
    /// stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Number of banks of shared memory, a power of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 1024)))]
    pub banks: u32,
    /// Size in bytes of the word that one bank serves in one wavefront, a power of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 1024)))]
    pub bank_bytes: u32,
    /// Lane indices, as vectors over F2, that span the first phase: the lanes that shared memory serves together. The
    /// other phases are the cosets of this span.
    #[cfg_attr(test, schemars(inner(range(min = 1))))]
    pub phase: Vec<u64>,
    /// Whether a phase (lanes that shared memory serves together) without active lanes takes a wavefront if other lanes
    /// of the warp are active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle_phases: bool,
    /// The larger phases of accesses whose lanes are pairs with one address; `None` if pairs take no fewer wavefronts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<PairedLanePhases>,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// The phases of an access in which the lanes are pairs with one address each. A lane without an active partner counts
/// as a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct PairedLanePhases {
    /// The distances of partners: lane `i` is paired with lane `i ^ v`, with the same `v` of this list for all lanes.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 1))))]
    pub lanes: Vec<u64>,
    /// The phase of such an access, in place of [`BankTableEntry::phase`], which it contains.
    #[cfg_attr(test, schemars(inner(range(min = 1))))]
    pub phase: Vec<u64>,
}

impl BankTableEntry {
    /// Returns the maximum number of bytes that one shared-memory wavefront moves: one word of `bank_bytes` in each
    /// bank.
    #[must_use]
    pub fn wavefront_bytes(&self) -> u64 {
        u64::from(self.banks) * u64::from(self.bank_bytes)
    }

    /// Returns the index of the bank that holds the byte at `address`, a byte address in shared memory.
    #[must_use]
    pub fn bank_of_address(&self, address: u64) -> u64 {
        (address >> self.bank_shift()) & self.bank_mask()
    }

    /// Returns the lane indices that span the first phase of an access: those of [`PairedLanePhases::phase`] if
    /// `is_pair` is true of a distance of [`PairedLanePhases::lanes`], or else [`Self::phase`]. `is_pair(v)` is whether
    /// each active lane `i` has the address of lane `i ^ v`, if that one is active.
    pub fn phase_of(&self, is_pair: impl Fn(u64) -> bool) -> &[u64] {
        let paired = self.paired.as_ref().filter(|paired| paired.lanes.iter().any(|&distance| is_pair(distance)));
        paired.map_or(&self.phase, |paired| &paired.phase)
    }

    /// Returns log2 of the max number of lanes that one wavefront serves.
    #[must_use]
    pub fn most_phase_bits(&self) -> u32 {
        self.phase_of(|_| true).len().min(32) as u32
    }

    /// Returns the lanes of each phase of an access of a warp; `addresses[lane]` is the byte address of the lane's
    /// access, `None` for inactive lanes. The lanes of a phase ascend; phases are ordered by their first lanes.
    #[must_use]
    pub fn lanes_of_phases(&self, addresses: &[Option<u64>]) -> Vec<Vec<u64>> {
        let phase = Phase::of_access(self, addresses);
        let lanes = |first| {
            let mut lanes: Vec<u64> = phase.lanes(first).collect();
            lanes.sort_unstable();
            lanes
        };
        let mut phases: Vec<Vec<u64>> = phase.first_lanes().map(lanes).collect();
        phases.sort_unstable();
        phases
    }

    /// Returns log2 of `bank_bytes`, the size in bytes of the word that a bank serves in one wavefront.
    fn bank_shift(&self) -> u32 {
        self.bank_bytes.max(1).ilog2()
    }

    /// Returns the mask of the bits that select a word's bank, in the word's index: its byte address over `bank_bytes`.
    fn bank_mask(&self) -> u64 {
        (1 << self.banks.max(1).ilog2()) - 1
    }
}

/// Returns the number of wavefronts that one shared-memory access of a warp takes.
///
/// `addresses[lane]` is the byte address of the lane's access of `bytes` bytes; `None` for inactive lanes. The lanes of
/// a phase ([`BankTableEntry::phase_of`]) are served together. Each bank serves one word of `bank_bytes` in a
/// wavefront, to all lanes that access it. A phase takes as many wavefronts as its busiest bank has different words,
/// and phases follow each other. A phase without active lanes takes none, or one if [`BankTableEntry::idle_phases`] is
/// set.
#[must_use]
pub fn count_access_wavefronts(row: &BankTableEntry, addresses: &[Option<u64>], bytes: u32) -> u64 {
    let phase = Phase::of_access(row, addresses);
    let mut load = BankLoad::new(row);
    let idle = u32::from(row.idle_phases && addresses.iter().any(Option::is_some));
    let mut total = 0;
    for first in phase.first_lanes() {
        load.clear();
        for lane in phase.lanes(first) {
            if let Some(Some(address)) = addresses.get(lane as usize) {
                load.access(*address, bytes);
            }
        }
        total += u64::from(load.busiest.max(idle));
    }
    total
}

/// Returns the number of wavefronts of an access of `bytes` bytes per lane whose byte addresses are linear over F2. All
/// lanes of the warp are active; lane `i` accesses the xor of the `lanes[b]` over the set bits `b` of `i`.
#[must_use]
pub fn count_linear_wavefronts(row: &BankTableEntry, lanes: &[u64], bytes: u32) -> u64 {
    count_masked_linear_wavefronts(row, lanes, 0, bytes)
}

/// As [`count_linear_wavefronts`], but only the lanes whose index has no bit in common with the mask `idle` are active.
///
/// Returns the same number as [`count_access_wavefronts`] of these addresses. If the accesses are aligned and their
/// width is a power of two, no address is enumerated: the words that a phase touches then form a subspace (or, with an
/// aligned offset, a coset of one), so each bank that is touched serves equally many of them, 2^(dimension of the words
/// - dimension of their banks).
#[must_use]
pub fn count_masked_linear_wavefronts(row: &BankTableEntry, lanes: &[u64], idle: u64, bytes: u32) -> u64 {
    let bits = lanes.len() as u32;
    let aligned = bytes.is_power_of_two() && lanes.iter().all(|address| address & u64::from(bytes - 1) == 0);
    if !aligned {
        let address = |lane: u64| (lane & idle == 0).then(|| image(lanes, lane));
        let addresses: SmallVec<[Option<u64>; 64]> = (0..1 << bits).map(address).collect();
        return count_access_wavefronts(row, &addresses, bytes);
    }
    let in_warp = (1 << bits) - 1;
    // A partner beyond the warp is inactive, too.
    let is_pair = |distance: u64| distance & (idle | !in_warp) != 0 || image(lanes, distance) == 0;
    let mut phase = Phase::new(row.phase_of(is_pair), bits).space;
    let phases = 1u64 << (bits - phase.dimension());
    let mut active = bits;
    if idle & in_warp != 0 {
        let units = Subspace::span((0..bits).map(|bit| 1 << bit).filter(|unit| idle & unit == 0));
        active = units.dimension();
        phase = phase.intersection(&units);
    }
    let shift = row.bank_shift();
    let words_of_lane = bytes.trailing_zeros().saturating_sub(shift);
    let touched = phase.basis().iter().map(|&lane| image(lanes, lane) >> shift);
    let words = Subspace::span(touched.chain((0..words_of_lane).map(|bit| 1 << bit)));
    let banks = Subspace::span(words.basis().iter().map(|word| word & row.bank_mask()));
    let each = words.dimension() - banks.dimension();
    let active_phases = 1u64 << (active - phase.dimension());
    let idle_phases = if row.idle_phases { phases - active_phases } else { 0 };
    (active_phases << each) + idle_phases
}

/// Returns the xor of `vectors[bit]` over the set bits `bit` of `lane`.
fn image(vectors: &[u64], lane: u64) -> u64 {
    vectors.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1).fold(0, |sum, (_, vector)| sum ^ vector)
}

/// The phases of a warp: the groups of lanes that shared memory serves together.
struct Phase {
    space: Subspace,
    bits: u32,
}

impl Phase {
    /// The phases of an access with the byte address of each lane.
    fn of_access(row: &BankTableEntry, addresses: &[Option<u64>]) -> Self {
        let partner = |lane: usize, distance: u64| addresses.get(lane ^ distance as usize).copied().flatten();
        let is_pair = |distance| {
            let lanes = addresses.iter().enumerate();
            let mut active = lanes.filter_map(|(lane, address)| Some(((*address)?, partner(lane, distance)?)));
            active.all(|(address, other)| address == other)
        };
        Phase::new(row.phase_of(is_pair), addresses.len().next_power_of_two().trailing_zeros())
    }

    fn new(phase: &[u64], bits: u32) -> Self {
        let mut space = Subspace::span(phase.iter().copied());
        // A bank row may be for several warp sizes: only the part of its span within the lanes of this warp counts.
        if phase.iter().any(|vector| vector >> bits != 0) {
            space = space.intersection(&Subspace::span((0..bits).map(|bit| 1 << bit)));
        }
        Phase { space, bits }
    }

    /// Returns the first lane of each phase: the lanes with no pivot bit of the reduced basis of the phases' space.
    fn first_lanes(&self) -> impl Iterator<Item = u64> + use<> {
        let pivots = self.space.basis().iter().fold(0, |mask, vector| mask | (vector & vector.wrapping_neg()));
        (0..1u64 << self.bits).filter(move |lane| lane & pivots == 0)
    }

    /// Returns all lanes of the phase (lanes that are served together) whose first lane is `first`. Each lane is the
    /// previous one xor one basis vector, as in a Gray code.
    fn lanes(&self, first: u64) -> impl Iterator<Item = u64> {
        let mut lane = first;
        (0..1u64 << self.space.dimension()).map(move |step| {
            if step != 0 {
                lane ^= self.space.basis()[step.trailing_zeros() as usize];
            }
            lane
        })
    }
}

/// Counts, for one phase (lanes that shared memory serves together), the different words of `bank_bytes` that each bank
/// must serve.
///
/// The words of a bank are a linked list: `newest[bank]` and the second member of each entry of `words` are indices
/// into `words` plus one; zero ends the list.
struct BankLoad {
    shift: u32,
    mask: u64,
    newest: SmallVec<[u32; 64]>,
    counts: SmallVec<[u32; 64]>,
    words: SmallVec<[(u64, u32); 64]>,
    busiest: u32,
}

impl BankLoad {
    fn new(row: &BankTableEntry) -> Self {
        let banks = row.bank_mask() as usize + 1;
        BankLoad {
            shift: row.bank_shift(),
            mask: row.bank_mask(),
            newest: SmallVec::from_elem(0, banks),
            counts: SmallVec::from_elem(0, banks),
            words: SmallVec::new(),
            busiest: 0,
        }
    }

    fn clear(&mut self) {
        self.newest.fill(0);
        self.counts.fill(0);
        self.words.clear();
        self.busiest = 0;
    }

    fn access(&mut self, address: u64, bytes: u32) {
        if bytes == 0 {
            return;
        }
        let last = address.saturating_add(u64::from(bytes - 1));
        for word in address >> self.shift..=last >> self.shift {
            self.count_word(word);
        }
    }

    fn count_word(&mut self, word: u64) {
        let bank = (word & self.mask) as usize;
        let mut link = self.newest[bank];
        while link != 0 {
            let (other, next) = self.words[link as usize - 1];
            if other == word {
                return;
            }
            link = next;
        }
        self.words.push((word, self.newest[bank]));
        self.newest[bank] = self.words.len() as u32;
        self.counts[bank] += 1;
        self.busiest = self.busiest.max(self.counts[bank]);
    }
}
