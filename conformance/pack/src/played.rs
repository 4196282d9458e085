//! What came out of a pack on a device.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Figure, Maker, PackIndex, PackedCase, PackedPrediction, Times, VERSION};

/// The results of a pack, with what must be known to have them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Version of the pack's format.
    pub version: u32,
    /// Version of the program that ran it.
    pub player: String,
    /// The machine.
    pub host: PlayedHost,
    /// The device, as it calls itself, its driver among it.
    pub device: String,
    /// The pack's target.
    pub target: String,
    /// Its architecture.
    pub architecture: String,
    /// The pack's suite.
    pub suite: String,
    /// Who compiled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Maker>,
    /// When it was made, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The cases, by name.
    pub cases: Vec<PlayedCase>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedHost {
    /// Its system, such as `linux`.
    pub system: String,
    /// Its processors' architecture, such as `x86_64`.
    pub architecture: String,
}

/// What a case is found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayedStatus {
    /// All buffers hold what they must.
    Pass,
    /// Some do not, or the device did not run it to its end.
    Fail,
    /// The device has no way to run it.
    Unsupported,
    /// The pack says something of it that cannot be.
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

/// What a trial is found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedOutcome {
    /// The status.
    pub status: PlayedStatus,
    /// What is wrong; empty where nothing is.
    pub detail: String,
    /// How long it took, where the device has a clock.
    pub times: Option<Times>,
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedCase {
    /// Its name.
    pub name: String,
    /// The status: of the first trial that is not right, or that all are.
    pub status: PlayedStatus,
    /// What is wrong; empty where nothing is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Of each trial that ran how long it took; nothing where the device has no clock.
    pub times: Vec<Option<Times>>,
    /// Of each trial what was predicted.
    pub predicted: Vec<Option<PackedPrediction>>,
    /// Its place in a figure, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

impl PlayedCase {
    pub(crate) fn of(case: &PackedCase, outcomes: Vec<PlayedOutcome>) -> Self {
        let wrong = outcomes.iter().find(|outcome| outcome.status != PlayedStatus::Pass);
        // A case that ran nothing has shown nothing.
        let nothing = || (PlayedStatus::Broken, "the case has no trials".to_owned());
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
            predicted: case.trials.iter().map(|trial| trial.predicted).collect(),
            figure: case.figure.clone(),
        }
    }

    /// The median of the first trial, in nanoseconds.
    #[must_use]
    pub fn median(&self) -> Option<u64> {
        Some((*self.times.first()?)?.median)
    }

    /// Cycles that were predicted of all rounds of the first trial.
    #[must_use]
    pub fn cycles(&self) -> Option<f64> {
        let predicted = (*self.predicted.first()?)?;
        Some(predicted.cycles * f64::from(predicted.rounds))
    }
}

impl Played {
    pub(crate) fn begun(index: &PackIndex, device: String) -> Self {
        Self {
            version: VERSION,
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

    /// Whether no case failed, and none was broken.
    #[must_use]
    pub fn is_right(&self) -> bool {
        !self.cases.iter().any(|case| matches!(case.status, PlayedStatus::Fail | PlayedStatus::Broken))
    }
}
