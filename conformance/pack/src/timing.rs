//! Times launches by the device's clock.

use serde::{Deserialize, Serialize};
use tilewright::run::LoadedLaunch;
use tilewright_plugin::DeviceError;

/// How often a kernel is launched for timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimingOptions {
    /// Number of launches before the first timed one.
    pub warm_up: u32,
    /// Number of timed launches.
    pub repetitions: u32,
}

impl Default for TimingOptions {
    fn default() -> Self {
        Self { warm_up: 5, repetitions: 25 }
    }
}

/// Times of several launches of one kernel, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The shortest time.
    pub least: u64,
    /// The median time.
    pub median: u64,
    /// The longest time.
    pub most: u64,
    /// The number of timed launches.
    pub launches: u32,
}

impl Times {
    /// Launches a kernel repeatedly and measures the times; `None` if the device reports no times. The contents of the
    /// buffers are undefined afterwards.
    ///
    /// # Errors
    /// [`DeviceError`] of a launch.
    pub fn of(launch: &mut LoadedLaunch<'_>, timing: TimingOptions) -> Result<Option<Self>, DeviceError> {
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
    use super::Times;

    #[test]
    fn the_median_is_in_the_middle() {
        let times = Times::among(vec![9, 1, 5, 7, 3]);
        assert_eq!(times, Some(Times { least: 1, median: 5, most: 9, launches: 5 }));
        assert_eq!(Times::among(Vec::new()), None);
    }
}
