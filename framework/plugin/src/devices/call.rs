//! Calls on a device as serialisable values, and the values that answer these calls.

use serde::{Deserialize, Serialize};

use crate::artifact::byte_string;

/// One call on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviceCall {
    /// Allocates zeroed memory; the answer is a [`Number`].
    Allocate { bytes: u64 },
    /// Frees a buffer; the answer is empty.
    Free { buffer: u64 },
    /// Copies bytes into a buffer; the answer is empty.
    Write {
        buffer: u64,
        offset: u64,
        #[serde(with = "byte_string")]
        bytes: Vec<u8>,
    },
    /// Reads bytes of a buffer; the answer is these bytes as they are, not in an envelope.
    Read { buffer: u64, offset: u64, bytes: u64 },
    /// Loads the code of an artifact; the answer is a [`Number`].
    Load {
        #[serde(with = "byte_string")]
        artifact: Vec<u8>,
    },
    /// Unloads code; the answer is empty.
    Unload { code: u64 },
    /// Runs a kernel; the request is a serialised `LaunchRequest`, the answer a `LaunchStats`.
    Launch {
        #[serde(with = "byte_string")]
        request: Vec<u8>,
    },
}

/// The names of the devices of a set, by index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceNames {
    pub names: Vec<String>,
}

/// The number of a new buffer or of newly loaded code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Number {
    pub number: u64,
}
