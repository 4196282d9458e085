//! Running the cases of a pack on a device.

use tilewright_plugin::{Device, DeviceError};
use tilewright_verify::{CheckFailure, LoadedLaunch, check_loaded};

use crate::{Effort, Pack, PackError, PackedCase, PlayedCase, PlayedOutcome, PlayedStatus, Times, Trial};

/// Why a trial has no result.
enum Stopped {
    Pack(PackError),
    Device(DeviceError),
}

impl From<PackError> for Stopped {
    fn from(error: PackError) -> Self {
        Self::Pack(error)
    }
}

impl From<DeviceError> for Stopped {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

/// Runs a case: each trial once on buffers that are as the pack says, which are compared, then again and again, which is
/// timed. The first trial that is not right is told. Whether the device may have been lost by it is said beside.
pub fn play(pack: &Pack, case: &PackedCase, device: &mut dyn Device, effort: Effort) -> (PlayedCase, bool) {
    let mut outcomes = Vec::new();
    for trial in &case.trials {
        let (outcome, lost) = match play_trial(pack, case, trial, device, effort) {
            Ok(outcome) => (outcome, false),
            Err(stopped) => stopped.outcome(),
        };
        let right = outcome.status == PlayedStatus::Pass;
        outcomes.push(outcome);
        if !right {
            return (PlayedCase::of(case, outcomes), lost);
        }
    }
    (PlayedCase::of(case, outcomes), false)
}

impl Stopped {
    /// What that says of the case, and whether the device may be of no use any more.
    fn outcome(self) -> (PlayedOutcome, bool) {
        let told = |status, detail| PlayedOutcome { status, detail, times: None };
        match self {
            Self::Pack(error) => (told(PlayedStatus::Broken, error.to_string()), false),
            Self::Device(DeviceError::Unsupported(reason)) => (told(PlayedStatus::Unsupported, reason), false),
            Self::Device(error) => {
                let refused = matches!(error, DeviceError::BadLaunch(_) | DeviceError::OutOfMemory(_));
                (told(PlayedStatus::Fail, error.to_string()), !refused)
            }
        }
    }
}

fn play_trial(
    pack: &Pack,
    case: &PackedCase,
    trial: &Trial,
    device: &mut dyn Device,
    effort: Effort,
) -> Result<PlayedOutcome, Stopped> {
    let (artifact, launch) = (pack.code(case, trial)?, pack.launch(case, trial)?);
    let mut loaded = LoadedLaunch::new(&launch, &artifact, device)?;
    let first = match check_loaded(&launch, &mut loaded) {
        Ok(first) => first,
        Err(CheckFailure::Device(error)) => return Err(error.into()),
        Err(wrong) => return Ok(PlayedOutcome { status: PlayedStatus::Fail, detail: wrong.to_string(), times: None }),
    };
    // Where a device has no clock there is nothing to repeat.
    let times = match first.nanoseconds {
        Some(_) if effort.repetitions > 0 => Times::of(&mut loaded, effort)?,
        _ => None,
    };
    Ok(PlayedOutcome { status: PlayedStatus::Pass, detail: String::new(), times })
}
