//! Runs the cases of a pack (a folder of compiled test cases) on a device.

use tilewright_plugin::{Device, DeviceError};
use tilewright_verify::{CheckFailure, check_loaded};

use crate::{
    LaunchTimes, Pack, PackError, PackedCase, PackedTestCase, PlayedCase, PlayedOutcome, PlayedStatus, TimingOptions,
};

/// The reason why a launch had no result that could be compared: the pack or the device.
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

/// Runs a case of a pack: each launch once on the initial buffers, to compare the results, then repeatedly for timing.
///
/// The result describes the first launch that failed. The flag is true if the device may be lost (unusable after a
/// fault), so that the caller opens it again.
pub fn run_packed_case(
    pack: &Pack,
    case: &PackedCase,
    device: &mut dyn Device,
    timing: TimingOptions,
) -> (PlayedCase, bool) {
    let mut outcomes = Vec::new();
    for test_case in &case.test_cases {
        let (outcome, lost) = match play_test_case(pack, case, test_case, device, timing) {
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
    /// Returns the outcome of the case, and whether the device may have become unusable, so that it must be reopened.
    fn outcome(self) -> (PlayedOutcome, bool) {
        let without_times = |status, detail| PlayedOutcome { status, detail, times: None };
        match self {
            Self::Pack(error) => (without_times(PlayedStatus::Broken, error.to_string()), false),
            Self::Device(DeviceError::Unsupported(reason)) => (without_times(PlayedStatus::Unsupported, reason), false),
            Self::Device(error) => {
                let refused = matches!(error, DeviceError::BadLaunch(_) | DeviceError::OutOfMemory(_));
                (without_times(PlayedStatus::Fail, error.to_string()), !refused)
            }
        }
    }
}

fn play_test_case(
    pack: &Pack,
    case: &PackedCase,
    test_case: &PackedTestCase,
    device: &mut dyn Device,
    timing: TimingOptions,
) -> Result<PlayedOutcome, Stopped> {
    let (artifact, launch) = (pack.read_code(case, test_case)?, pack.build_launch(case, test_case)?);
    let mut loaded = launch.load(&artifact, device)?;
    let first = match check_loaded(&launch, &mut loaded) {
        Ok(first) => first,
        Err(CheckFailure::Device(error)) => return Err(error.into()),
        Err(wrong) => return Ok(PlayedOutcome { status: PlayedStatus::Fail, detail: wrong.to_string(), times: None }),
    };
    // Repetitions only measure time, so there are none if the device has no clock.
    let times = match first.nanoseconds {
        Some(_) if timing.repetitions > 0 => LaunchTimes::measure(&mut loaded, timing)?,
        _ => None,
    };
    Ok(PlayedOutcome { status: PlayedStatus::Pass, detail: String::new(), times })
}
