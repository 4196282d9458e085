//! How long launches take, by the device's own clock.

use serde::{Deserialize, Serialize};
use tilewright_plugin::DeviceError;
use tilewright_verify::LoadedLaunch;

/// How often a launch is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Launches before the first that counts.
    pub warm_up: u32,
    /// Launches that count.
    pub repetitions: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { warm_up: 5, repetitions: 25 }
    }
}

/// Times of several launches of one kernel, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The shortest.
    pub least: u64,
    /// As many are shorter as are longer.
    pub median: u64,
    /// The longest.
    pub most: u64,
    /// How many there were.
    pub launches: u32,
}

impl Times {
    /// Launches again and again; nothing where the device tells no times. What is in the buffers afterwards is of no use.
    ///
    /// # Errors
    /// A launch that fails.
    pub fn of(launch: &mut LoadedLaunch<'_>, effort: Effort) -> Result<Option<Self>, DeviceError> {
        let mut times = Vec::new();
        for turn in 0..effort.warm_up.saturating_add(effort.repetitions) {
            let Some(time) = launch.run()?.nanoseconds else { return Ok(None) };
            if turn >= effort.warm_up {
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
