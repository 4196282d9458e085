//! The environment of a run: the facts that are necessary to reproduce its results.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Shard;

/// The facts that are necessary to reproduce the results of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMetadata {
    /// Version of the suite that ran the cases.
    pub suite: String,
    /// Start of the run, in seconds since 1970 (UTC).
    pub started: u64,
    /// The machine on which the suite ran.
    pub host: HostMachine,
    /// The targets that were tested, with their plugins.
    pub targets: Vec<TestedTargetRecord>,
    /// First seed of cases that are generated at random.
    pub seed: u32,
    /// Whether the run was thorough, see [`crate::Thoroughness`].
    pub thorough: bool,
    /// Whether the user requested that cases run on a device too.
    pub device: bool,
    /// The part of a run that was executed; `None` for all of its cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// The machine on which the suite ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMachine {
    /// The operating system, such as `linux`.
    pub system: String,
    /// The architecture of the machine's processors, such as `x86_64`.
    pub architecture: String,
    /// Number of processors that a program may use.
    pub processors: usize,
}

/// A target that a run tested, with the plugin that served it and the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedTargetRecord {
    /// The target's name, such as `h100`.
    pub name: String,
    /// The target's architecture, such as `sm_90a`.
    pub architecture: String,
    /// Plugin library that served the target; `None` if it is statically linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<ServingPluginRecord>,
    /// The device that cases ran on; `None` if devices were not requested or the target has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// The plugin that serves a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingPluginRecord {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The tools that the plugin was built with, from its manifest, such as `LLVM 22`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_with: Vec<String>,
    /// SHA-256 of the plugin's library, in hexadecimal digits; empty if the library cannot be read.
    pub sha256: String,
}

impl HostMachine {
    /// Returns the description of the machine that runs this process.
    #[must_use]
    pub fn describe_this_machine() -> Self {
        Self {
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl RunMetadata {
    /// Checks that results of two runs are comparable: same suite, targets and plugins, and the same options that
    /// determine the meaning of case names.
    ///
    /// # Errors
    /// A message if the suite, an option, a target or a plugin differs; it names the difference.
    pub(crate) fn agrees(&self, other: &Self) -> Result<(), String> {
        let differ = |what: &str, one: &str, two: &str| Err(format!("{what} is {one} in one and {two} in the other"));
        if self.suite != other.suite {
            return differ("the suite's version", &self.suite, &other.suite);
        }
        if (self.seed, self.thorough) != (other.seed, other.thorough) {
            let to_text = |of: &Self| format!("{}{}", of.seed, if of.thorough { ", thorough" } else { "" });
            return differ("the seed", &to_text(self), &to_text(other));
        }
        for tested in &self.targets {
            let Some(same) = other.targets.iter().find(|other| other.name == tested.name) else { continue };
            if tested.plugin != same.plugin {
                let to_text = |of: &TestedTargetRecord| {
                    of.plugin.as_ref().map_or_else(|| "linked".to_owned(), ServingPluginRecord::to_string)
                };
                return differ(&format!("the plugin of {}", tested.name), &to_text(tested), &to_text(same));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for ServingPluginRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = self.sha256.get(..12).unwrap_or_default();
        write!(f, "{} {} ({short})", self.name, self.version)
    }
}

/// Returns the current time in seconds since 1970 (UTC).
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the SHA-256 of a file's contents, in hexadecimal digits.
pub(crate) fn digest(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(file)?, &mut Writing(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adapts a hash function to [`io::Write`], so that a file is hashed without loading it whole.
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
