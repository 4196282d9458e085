//! Outcomes of the cases of the suite: status, level of evidence and details.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tilewright_layout::Layout;

/// The status of a case after its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All assertions of the case hold.
    Pass,
    /// An assertion of the case does not hold.
    Fail,
    /// All assertions of the case hold, but a count or cost is above its lower bound.
    Quality,
    /// The target lacks a capability that the case needs; the detail has the reason.
    Unsupported,
    /// The case was skipped for a reason outside the target, such as a device that was not requested.
    Skip,
    /// The case ended its process, panicked, or broke the process of the plugin.
    Crash,
    /// The case exceeded its time limit and was ended.
    Timeout,
    /// The case failed, and passed when it was repeated.
    Flake,
    /// The case failed, and the list of expected failures contains it.
    XFail,
    /// The case passed, although a list contains it as failing or unsupported.
    XPass,
}

impl Status {
    /// All statuses, in the order of reports.
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

    /// Whether a case with this status makes the whole run fail.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Timeout | Self::XPass)
    }

    /// Whether all assertions of a case with this status hold, in every run.
    #[must_use]
    pub fn is_correct(self) -> bool {
        matches!(self, Self::Pass | Self::Quality)
    }

    /// Returns the word for the status in reports.
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

/// Kind of evidence for a case's assertion; a later level is stronger and includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceLevel {
    /// Checked by algebra on layouts; nothing was compiled or run.
    Layout,
    /// Code was generated, and an assembler accepted it.
    Codegen,
    /// Executed by the emulator, with correct results.
    Emulated,
    /// Executed by a device, with correct results.
    Device,
}

impl EvidenceLevel {
    /// All levels, the weakest first.
    pub const ALL: [Self; 4] = [Self::Layout, Self::Codegen, Self::Emulated, Self::Device];

    /// Returns the word for the level in reports.
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

impl fmt::Display for EvidenceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The outcome of one run of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The status, such as `Pass` or `Fail`.
    pub status: Status,
    /// The level of evidence for the status; `None` if the case gave no evidence.
    pub level: Option<EvidenceLevel>,
    /// The cause of a failure, the reason of an unsupported or skipped case, or the excess over the lower bound; empty
    /// for most passes.
    pub detail: String,
    /// The time that the case took to run.
    #[serde(rename = "duration_us", with = "microseconds")]
    pub duration: Duration,
    /// The layouts that a failed case requested, each with a description, so that reports can draw them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<(String, Layout)>,
}

/// The outcome of one case on one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The name of the target that was tested.
    pub target: String,
    /// The name of the case, unique for the target.
    pub name: String,
    /// The outcome of the case: status, evidence and details.
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
