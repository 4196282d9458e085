//! Results of running a pack on a device.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FigurePoint, LaunchTimes, PACK_VERSION, PackIndex, PackPlugin, PackedCase, PackedPrediction};

/// The results of running a pack, with the environment that is needed to reproduce them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedPack {
    /// Version of the pack's file format.
    pub version: u32,
    /// Version of the program that ran the pack.
    pub player: String,
    /// The machine on which the pack ran.
    pub host: PlayedHost,
    /// The device's name and driver, as it reports them.
    pub device: String,
    /// The name of the pack's target, such as `h100`.
    pub target: String,
    /// The architecture of the pack's target, such as `sm_90a`.
    pub architecture: String,
    /// The version of the suite that wrote the pack.
    pub suite: String,
    /// The plugin that compiled the pack; `None` if the writer of the pack had the target linked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PackPlugin>,
    /// The date of the pack, as the user who wrote it gave it; `None` if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The results of the cases, sorted by name.
    pub cases: Vec<PlayedCase>,
}

/// The machine on which a pack ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedHost {
    /// The operating system, such as `linux`.
    pub system: String,
    /// The architecture of the machine's processors, such as `x86_64`.
    pub architecture: String,
}

/// The status of a case of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayedStatus {
    /// All buffers hold their expected contents.
    Pass,
    /// A buffer does not hold its expected contents, or a launch did not complete on the device.
    Fail,
    /// The device lacks a feature that the case needs.
    Unsupported,
    /// The case is inconsistent or unreadable in the pack, so the device was not tested.
    Broken,
}

impl fmt::Display for PlayedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unsupported => "unsupported",
            Self::Broken => "broken",
        })
    }
}

/// The outcome of one launch of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedOutcome {
    /// The status of the launch.
    pub status: PlayedStatus,
    /// Description of the failure; empty if the launch passed.
    pub detail: String,
    /// Times of repeated launches of the kernel; `None` if the device has no clock or timing is off.
    pub times: Option<LaunchTimes>,
}

/// The result of a case of a pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedCase {
    /// The case's name in the suite.
    pub name: String,
    /// The status of the first launch that did not pass; `Pass` if all did.
    pub status: PlayedStatus,
    /// Description of the failure; empty if the case passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// For each launch that ran, the times of its kernel; `None` if the kernel was not timed.
    pub times: Vec<Option<LaunchTimes>>,
    /// For each launch, the plan's prediction of cycles and operations; `None` if the pack has none.
    pub predicted: Vec<Option<PackedPrediction>>,
    /// The figure of measurements, with point and variant, that the case belongs to; `None` if it belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigurePoint>,
}

impl PlayedCase {
    pub(crate) fn of(case: &PackedCase, outcomes: Vec<PlayedOutcome>) -> Self {
        let wrong = outcomes.iter().find(|outcome| outcome.status != PlayedStatus::Pass);
        // A case without launches tested nothing, so it must not pass.
        let nothing = || (PlayedStatus::Broken, "the case has no launches".to_owned());
        let (status, detail) = match (wrong, outcomes.is_empty()) {
            (Some(wrong), _) => (wrong.status, wrong.detail.clone()),
            (None, false) => (PlayedStatus::Pass, String::new()),
            (None, true) => nothing(),
        };
        Self {
            name: case.name.clone(),
            status,
            detail,
            times: outcomes.iter().map(|outcome| outcome.times).collect(),
            predicted: case.test_cases.iter().map(|test_case| test_case.predicted).collect(),
            figure: case.figure.clone(),
        }
    }

    /// Returns the median time of the case's first launch, in nanoseconds; `None` if the launch was not timed.
    #[must_use]
    pub fn median_nanoseconds(&self) -> Option<u64> {
        Some((*self.times.first()?)?.median)
    }

    /// Returns the predicted cycles of a block for all repetitions in the case's first launch; `None` without a
    /// prediction.
    #[must_use]
    pub fn predicted_cycles(&self) -> Option<f64> {
        let predicted = (*self.predicted.first()?)?;
        Some(predicted.cycles * f64::from(predicted.rounds))
    }
}

impl PlayedPack {
    pub(crate) fn new(index: &PackIndex, device: String) -> Self {
        Self {
            version: PACK_VERSION,
            player: env!("CARGO_PKG_VERSION").to_owned(),
            host: PlayedHost {
                system: std::env::consts::OS.to_owned(),
                architecture: std::env::consts::ARCH.to_owned(),
            },
            device,
            target: index.target.name.clone(),
            architecture: index.target.architecture.clone(),
            suite: index.suite.clone(),
            plugin: index.plugin.clone(),
            date: index.date.clone(),
            cases: Vec::new(),
        }
    }

    /// Whether no case has the status `Fail` or `Broken`; unsupported cases are accepted.
    #[must_use]
    pub fn has_no_failures(&self) -> bool {
        !self.cases.iter().any(|case| matches!(case.status, PlayedStatus::Fail | PlayedStatus::Broken))
    }
}
