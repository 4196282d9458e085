//! Checks the description of shared-memory banks: it gives the numbers of wavefronts that the vendor's documents state.
//!
//! The expected numbers are counted here independently of the planner, lane by lane. The known answer lists the lanes
//! of a phase (lanes that are served together). A bank serves one word per wavefront, so a phase takes as many
//! wavefronts as its busiest bank has distinct words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use tilewright_target::{Direction, TargetDescription, count_access_wavefronts};

use super::super::law::{LawResult, law_failure, require};
use crate::{Context, KnownAnswer};

/// The content of a known answer about shared-memory banks.
struct Banks {
    banks: u64,
    bytes: u64,
    /// Indices of lanes; their xor combinations are the lanes served together with lane zero.
    together: Vec<u64>,
    /// Distances of lanes: if all lanes have the address of the lane at one of these distances, `paired_phase` replaces
    /// `together`. Empty if equal addresses change nothing.
    paired: Vec<u64>,
    paired_phase: Vec<u64>,
}

impl Banks {
    fn of(row: &Json) -> Option<Self> {
        let lanes = |name: &str| row[name].as_array()?.iter().map(Json::as_u64).collect::<Option<Vec<_>>>();
        let optional = |name: &str| if row[name].is_null() { Some(Vec::new()) } else { lanes(name) };
        Some(Self {
            banks: row["banks"].as_u64()?,
            bytes: row["bank_bytes"].as_u64()?,
            together: lanes("phase")?,
            paired: optional("paired")?,
            paired_phase: optional("paired_phase")?,
        })
    }

    /// Counts the wavefronts of a warp's access: lane `i` accesses `bytes` bytes at the byte address `addresses[i]`.
    fn count(&self, addresses: &[u64], bytes: u64) -> u64 {
        let is_paired = |distance: &u64| {
            addresses.iter().enumerate().all(|(lane, address)| *address == addresses[lane ^ *distance as usize])
        };
        let together = if self.paired.iter().any(is_paired) { &self.paired_phase } else { &self.together };
        let mut left: BTreeSet<u64> = (0..addresses.len() as u64).collect();
        let mut total = 0;
        while let Some(&first) = left.first() {
            let mut phase = BTreeSet::from([first]);
            for lane in together {
                let others: Vec<u64> = phase.iter().map(|other| other ^ lane).collect();
                phase.extend(others.into_iter().filter(|lane| left.contains(lane)));
            }
            left.retain(|lane| !phase.contains(lane));
            let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
            for lane in phase {
                let begin = addresses[lane as usize];
                for word in begin / self.bytes..(begin + bytes).div_ceil(self.bytes) {
                    words.entry(word % self.banks).or_default().insert(word);
                }
            }
            total += words.values().map(|words| words.len() as u64).max().unwrap_or(0);
        }
        total
    }
}

pub(super) fn check(context: &Context, row: &KnownAnswer) -> LawResult {
    let json = row.parse_json();
    let target = context.target().description();
    let malformed =
        || law_failure(format!("row {} has no `banks`, `bank_bytes`, `phase`, `directions` and `access_bits`", row.id));
    let known = Banks::of(&json).ok_or_else(malformed)?;
    let list = |name: &str| json[name].as_array().cloned().ok_or_else(malformed);
    for direction in list("directions")? {
        let direction = match direction.as_str() {
            Some("store") => Direction::Store,
            Some("load") => Direction::Load,
            _ => return Err(malformed()),
        };
        for bits in list("access_bits")? {
            let bits = bits.as_u64().ok_or_else(malformed)?;
            compare(target, &known, direction, bits as u32)?;
        }
    }
    Ok(())
}

/// Compares the numbers of wavefronts by the target's description with those by the known answer, for address patterns
/// that hit the banks differently. Each lane accesses `bits` bits.
fn compare(target: &TargetDescription, known: &Banks, direction: Direction, bits: u32) -> LawResult {
    let what = format!("{direction:?} of {bits} bits").to_lowercase();
    let mut plain = target.shared.banks.iter().filter(|row| row.instruction.is_none());
    let own = plain.find(|row| row.directions.contains(&direction) && row.access_bits.contains(&bits));
    let own = own.ok_or_else(|| law_failure(format!("the description has no banks for a {what}")))?;
    let lanes = u64::from(target.lanes.default);
    let bytes = u64::from(bits / 8);
    for (name, address) in patterns() {
        let addresses: Vec<u64> = (0..lanes).map(|lane| address(lane) * bytes).collect();
        let given: Vec<Option<u64>> = addresses.iter().copied().map(Some).collect();
        let (found, expected) = (count_access_wavefronts(own, &given, bytes as u32), known.count(&addresses, bytes));
        require(found == expected, || format!("a {what}, {name}, takes {found} wavefronts, known are {expected}"))?;
    }
    Ok(())
}

type Pattern = (String, Box<dyn Fn(u64) -> u64>);

/// Returns address patterns: the address of each lane's access, in units of the width of one access.
fn patterns() -> Vec<Pattern> {
    let mut all: Vec<Pattern> = Vec::new();
    for stride in [0, 1, 2, 3, 4, 8, 16, 17, 32, 33, 64, 128] {
        all.push((format!("{stride} units apart"), Box::new(move |lane| stride * lane)));
    }
    // Lanes whose index has bit `bit` set are far from the other lanes, which share one address or have adjacent ones.
    for bit in 0..6 {
        for far in [8, 16, 32, 64] {
            let at = move |lane: u64| if lane >> bit & 1 == 1 { far * 64 } else { 0 };
            all.push((format!("bit {bit} of the lane {} units away", far * 64), Box::new(at)));
            let beside = move |lane: u64| (lane & !(1 << bit)) + (lane >> bit & 1) * far;
            all.push((format!("bit {bit} of the lane {far} units away"), Box::new(beside)));
        }
    }
    all
}
