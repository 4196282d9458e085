//! Banks of shared memory: how many wavefronts accesses take by the description is what they take by the vendor's words.
//!
//! These are counted here anew, lane by lane: the lanes of a phase are those whose numbers differ by sums of the row's
//! lanes; a bank gives one word in a wavefront; a phase takes as many as some bank has different words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use tilewright_target::{Direction, TargetDescription, wavefronts};

use super::super::law::{Checked, broken, require};
use crate::{Context, Row};

/// What a row says.
struct Banks {
    banks: u64,
    bytes: u64,
    /// Lanes that, with their sums, are served together with lane zero.
    together: Vec<u64>,
}

impl Banks {
    fn of(row: &Json) -> Option<Self> {
        Some(Self {
            banks: row["banks"].as_u64()?,
            bytes: row["bank_bytes"].as_u64()?,
            together: row["phase"].as_array()?.iter().map(Json::as_u64).collect::<Option<_>>()?,
        })
    }

    /// Wavefronts of accesses of so many bytes each.
    fn count(&self, addresses: &[u64], bytes: u64) -> u64 {
        let mut left: BTreeSet<u64> = (0..addresses.len() as u64).collect();
        let mut total = 0;
        while let Some(&first) = left.first() {
            let mut phase = BTreeSet::from([first]);
            for lane in &self.together {
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

pub(super) fn check(context: &Context, row: &Row) -> Checked {
    let json = row.json();
    let target = context.target().description();
    let malformed =
        || broken(format!("row {} has no `banks`, `bank_bytes`, `phase`, `directions` and `access_bits`", row.id));
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

/// Over patterns of addresses that meet each bank in other ways.
fn compare(target: &TargetDescription, known: &Banks, direction: Direction, bits: u32) -> Checked {
    let what = format!("{direction:?} of {bits} bits").to_lowercase();
    let mut plain = target.shared.banks.iter().filter(|row| row.instruction.is_none());
    let own = plain.find(|row| row.directions.contains(&direction) && row.access_bits.contains(&bits));
    let own = own.ok_or_else(|| broken(format!("the description has no banks for a {what}")))?;
    let lanes = u64::from(target.lanes.default);
    let bytes = u64::from(bits / 8);
    for (name, address) in patterns() {
        let addresses: Vec<u64> = (0..lanes).map(|lane| address(lane) * bytes).collect();
        let given: Vec<Option<u64>> = addresses.iter().copied().map(Some).collect();
        let (found, expected) = (wavefronts(own, &given, bytes as u32), known.count(&addresses, bytes));
        require(found == expected, || format!("a {what}, {name}, takes {found} wavefronts, known are {expected}"))?;
    }
    Ok(())
}

type Pattern = (String, Box<dyn Fn(u64) -> u64>);

/// Units of an access's width at which each lane begins.
fn patterns() -> Vec<Pattern> {
    let mut all: Vec<Pattern> = Vec::new();
    for stride in [0, 1, 2, 3, 4, 8, 16, 17, 32, 33, 64, 128] {
        all.push((format!("{stride} units apart"), Box::new(move |lane| stride * lane)));
    }
    // Two lanes alone may meet: each pair of halves of a warp.
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
