//! Times launches of a kernel by the device's clock.

use serde::{Deserialize, Serialize};
use tilewright::run::DeviceResidentLaunch;
use tilewright_plugin::DeviceError;

/// The number of launches of a kernel that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimingOptions {
    /// Number of launches before the first timed one, so that caches and clock rates settle.
    pub warm_up: u32,
    /// Number of timed launches, after the ones for warming up.
    pub repetitions: u32,
}

impl Default for TimingOptions {
    fn default() -> Self {
        Self { warm_up: 5, repetitions: 25 }
    }
}

/// Times of several launches of one kernel on a device, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchTimes {
    /// The shortest time, in nanoseconds.
    pub least: u64,
    /// The median time, in nanoseconds; of an even number of times, the greater of the middle two.
    pub median: u64,
    /// The longest time, in nanoseconds.
    pub most: u64,
    /// The number of timed launches, without the launches for warming up.
    pub launches: u32,
}

impl LaunchTimes {
    /// Launches a kernel repeatedly and measures the times; `None` if the device reports no times or no launch is
    /// timed. The contents of the buffers are undefined afterwards, since each launch overwrites the results of the one
    /// before.
    ///
    /// # Errors
    /// [`DeviceError`] if a launch fails.
    pub fn measure(launch: &mut DeviceResidentLaunch<'_>, timing: TimingOptions) -> Result<Option<Self>, DeviceError> {
        let mut times = Vec::new();
        for repetition in 0..timing.warm_up.saturating_add(timing.repetitions) {
            let Some(time) = launch.run()?.nanoseconds else { return Ok(None) };
            if repetition >= timing.warm_up {
                times.push(time);
            }
        }
        Ok(Self::among(times))
    }

    fn among(mut times: Vec<u64>) -> Option<Self> {
        times.sort_unstable();
        let (&least, &most) = (times.first()?, times.last()?);
        let median = times[times.len() / 2];
        Some(Self { least, median, most, launches: u32::try_from(times.len()).unwrap_or(u32::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::LaunchTimes;

    #[test]
    fn the_median_is_in_the_middle() {
        let times = LaunchTimes::among(vec![9, 1, 5, 7, 3]);
        assert_eq!(times, Some(LaunchTimes { least: 1, median: 5, most: 9, launches: 5 }));
        assert_eq!(LaunchTimes::among(Vec::new()), None);
    }
}
