//! Under what circumstances results came out.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Shard;

/// What has to be known to have the same results again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of the suite.
    pub suite: String,
    /// When the run began, in seconds since 1970 (UTC).
    pub started: u64,
    /// The machine on which it ran.
    pub host: Host,
    /// What was tested.
    pub targets: Vec<Tested>,
    /// Where random cases begin.
    pub seed: u32,
    /// Whether everything was shown on every tensor.
    pub thorough: bool,
    /// Whether cases on a device were asked for.
    pub device: bool,
    /// The part of the cases that was run; all where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its system, such as `linux`.
    pub system: String,
    /// Its processors' architecture, such as `x86_64`.
    pub architecture: String,
    /// How many of them a program may use.
    pub processors: usize,
}

/// A target that was tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub architecture: String,
    /// Who served it; nobody's file where it is linked into the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<ServingPlugin>,
    /// The device that cases run on; none where there is none, or none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// The plugin that serves a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingPlugin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it was built with, as its manifest says, such as `LLVM 22`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_with: Vec<String>,
    /// SHA-256 of its library, in hexadecimal digits; empty where it cannot be read.
    pub sha256: String,
}

impl Host {
    /// This machine.
    #[must_use]
    pub fn here() -> Self {
        Self {
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Environment {
    /// What makes results of two runs say the same: the suite, the targets, who served them, and the options
    /// that choose what a case of some name is.
    ///
    /// # Errors
    /// What differs.
    pub(crate) fn agrees(&self, other: &Self) -> Result<(), String> {
        let differ = |what: &str, one: &str, two: &str| Err(format!("{what} is {one} in one and {two} in the other"));
        if self.suite != other.suite {
            return differ("the suite's version", &self.suite, &other.suite);
        }
        if (self.seed, self.thorough) != (other.seed, other.thorough) {
            let said = |of: &Self| format!("{}{}", of.seed, if of.thorough { ", thorough" } else { "" });
            return differ("the seed", &said(self), &said(other));
        }
        for tested in &self.targets {
            let Some(same) = other.targets.iter().find(|other| other.name == tested.name) else { continue };
            if tested.plugin != same.plugin {
                let said =
                    |of: &Tested| of.plugin.as_ref().map_or_else(|| "linked".to_owned(), ServingPlugin::to_string);
                return differ(&format!("the plugin of {}", tested.name), &said(tested), &said(same));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for ServingPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = self.sha256.get(..12).unwrap_or_default();
        write!(f, "{} {} ({short})", self.name, self.version)
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// SHA-256 of a file, in hexadecimal digits.
pub(crate) fn digest(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(file)?, &mut Writing(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A hash function as something to write to.
struct Writing<'a>(&'a mut Sha256);

impl io::Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
