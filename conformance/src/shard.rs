//! Shards: disjoint parts of a run that together are the whole run, to distribute it over machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Part `index` of `of` parts of a run. Only a case's name determines its part, so that it stays there when other cases
/// are added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Index of the part among all parts, from 1.
    #[serde(rename = "part")]
    pub index: u32,
    /// Number of parts of the run, at least `index`.
    pub of: u32,
}

impl Shard {
    /// Whether the shard contains the case of this name.
    #[must_use]
    pub fn contains(self, name: &str) -> bool {
        name_hash(name) % u64::from(self.of) == u64::from(self.index - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("expected K/N with K from 1 to N, such as 2/8".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// Returns a hash of a case's name, stable across machines and versions: the first eight bytes of its SHA-256,
/// big-endian.
pub(crate) fn name_hash(name: &str) -> u64 {
    Sha256::digest(name).iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}
