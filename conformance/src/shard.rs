//! Parts of a run that together are the whole.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Part `part` of `of`. Which part a case is in depends on its name alone, so that it stays there when others come or
/// go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 on.
    pub part: u32,
    /// At least as many.
    pub of: u32,
}

impl Shard {
    /// Whether the case of this name is in it.
    #[must_use]
    pub fn holds(self, name: &str) -> bool {
        name_hash(name) % u64::from(self.of) == u64::from(self.part - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self { part, of }),
            _ => Err("expected K/N with K from 1 to N, such as 2/8".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// A number for a case's name that is the same on every machine and in every version: the first eight bytes of its
/// SHA-256, the most significant first.
pub(crate) fn name_hash(name: &str) -> u64 {
    Sha256::digest(name).iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}
