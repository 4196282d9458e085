//! What came out of a case.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tilewright_layout::Layout;

/// What a case's run says of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything asserted holds.
    Pass,
    /// Something asserted does not hold.
    Fail,
    /// Everything asserted holds, but the result is above its proven lower bound.
    Quality,
    /// The target has no way to do this, and says why.
    Unsupported,
    /// The case was left out for a reason that is not the target's.
    Skip,
    /// The case ended its process, panicked, or broke the plugin's process.
    Crash,
    /// The case did not end in the time it had.
    Timeout,
    /// The case failed, and passed when it was run again.
    Flake,
    /// The case failed, as a list of expected failures says.
    XFail,
    /// The case passed, though a list says that it fails or is unsupported.
    XPass,
}

impl Status {
    /// All statuses, in the order in which they are reported.
    pub const ALL: [Self; 10] = [
        Self::Pass,
        Self::Fail,
        Self::Quality,
        Self::Unsupported,
        Self::Skip,
        Self::Crash,
        Self::Timeout,
        Self::Flake,
        Self::XFail,
        Self::XPass,
    ];

    /// Whether a run with such a case fails.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Timeout | Self::XPass)
    }

    /// Whether everything that the case asserts holds, each time it was run.
    #[must_use]
    pub fn is_right(self) -> bool {
        matches!(self, Self::Pass | Self::Quality)
    }

    /// The word used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Quality => "quality",
            Self::Unsupported => "unsupported",
            Self::Skip => "skip",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Flake => "flake",
            Self::XFail => "xfail",
            Self::XPass => "xpass",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How strongly a case's assertion was shown; each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// By algebra on layouts.
    Layout,
    /// Code was generated, and an assembler took it.
    Codegen,
    /// The emulator executed it.
    Emulated,
    /// Hardware executed it.
    Device,
}

impl Level {
    /// All levels, the weakest first.
    pub const ALL: [Self; 4] = [Self::Layout, Self::Codegen, Self::Emulated, Self::Device];

    /// The word used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Layout => "layout",
            Self::Codegen => "codegen",
            Self::Emulated => "emulated",
            Self::Device => "device",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What came out of running a case once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What it says of the target.
    pub status: Status,
    /// How strongly that was shown; `None` where nothing was.
    pub level: Option<Level>,
    /// What failed, why it is unsupported or skipped, what lies above the bound; empty for most
    /// passes.
    pub detail: String,
    /// How long it took.
    #[serde(rename = "duration_us", with = "microseconds")]
    pub duration: Duration,
    /// Of a case that failed, layouts that it is about, each with what it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<(String, Layout)>,
}

/// The outcome of a case of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The target.
    pub target: String,
    /// The case.
    pub name: String,
    /// What came out.
    #[serde(flatten)]
    pub outcome: Outcome,
}

mod microseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_micros)
    }
}
