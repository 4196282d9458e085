//! Calls of devices as values, and what they answer.

use serde::{Deserialize, Serialize};

use crate::artifact::byte_string;

/// One call of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviceCall {
    /// Zeroed memory; answers a [`Number`].
    Allocate { bytes: u64 },
    /// Answers nothing.
    Free { buffer: u64 },
    /// Answers nothing.
    Write {
        buffer: u64,
        offset: u64,
        #[serde(with = "byte_string")]
        bytes: Vec<u8>,
    },
    /// Answers the bytes as they are.
    Read { buffer: u64, offset: u64, bytes: u64 },
    /// Code of an artifact; answers a [`Number`].
    Load {
        #[serde(with = "byte_string")]
        artifact: Vec<u8>,
    },
    /// Answers nothing.
    Unload { code: u64 },
    /// A `LaunchRequest` is answered by a `Launched`.
    Launch {
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
}

/// The devices of a set, by what they call themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceNames {
    pub names: Vec<String>,
}

/// The number of something that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Number {
    pub number: u64,
}
