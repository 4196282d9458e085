//! Frames on the pipe between a host and the process that serves a plugin: the length in four bytes, little-endian,
//! then CBOR in the envelope of [`wire`](crate::wire).

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::channel::Call;
use super::failure::SerializedError;
use super::wire::{self, MAX_MESSAGE_BYTES};
use crate::artifact::byte_string;

/// A call to the plugin, as the host sends it over the pipe.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// The call's number, which its answers repeat.
    pub id: u64,
    /// Timeout of the call in milliseconds.
    pub limit_ms: u64,
    pub call: Call,
}

/// One part of the answer to a call. The last part reports success or failure; the exit status of the process does not
/// count.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    pub id: u64,
    #[serde(rename = "part")]
    pub event: AnswerEvent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswerEvent {
    Log { level: u32, message: String },
    Progress { done: u64, total: u64, what: String },
    Done(#[serde(with = "byte_string")] Vec<u8>),
    Failed(SerializedError),
}

/// Writes one frame and flushes the stream.
pub(super) fn write<T: Serialize>(to: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = wire::serialize_message(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads one frame; `None` if the stream ends before a frame begins.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length)? {
        0 => return Ok(None),
        first => from.read_exact(&mut length[first..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::other(format!("a frame of {length} bytes, where at most {MAX_MESSAGE_BYTES} are read")));
    }
    // The buffer grows with arriving bytes, so that a large length alone allocates nothing.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    wire::deserialize_message(&bytes).map(Some).map_err(io::Error::other)
}
