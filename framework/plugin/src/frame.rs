//! Frames of the pipe between a host and the process that serves a plugin: the length in four
//! bytes, least significant first, then CBOR in the same envelope as everything that crosses.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::channel::Call;
use super::failure::PluginFailure;
use super::wire::{self, MAX_BYTES};
use crate::artifact::byte_string;

/// A call on its way to the plugin.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// Its number; answers carry it.
    pub id: u64,
    /// How long the caller waits, in milliseconds.
    pub limit_ms: u64,
    pub call: Call,
}

/// One part of the answer to a call. The last part is the end record, which is the only verdict:
/// how the process ends says nothing.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    pub id: u64,
    pub part: Part,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    Log { level: u32, message: String },
    Progress { done: u64, total: u64, what: String },
    Done(#[serde(with = "byte_string")] Vec<u8>),
    Failed(PluginFailure),
}

/// Writes one frame and flushes.
pub(super) fn write<T: Serialize>(to: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = wire::write(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads one frame; `None` where the stream ends before one begins.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length)? {
        0 => return Ok(None),
        first => from.read_exact(&mut length[first..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_BYTES {
        return Err(io::Error::other(format!("a frame of {length} bytes, where at most {MAX_BYTES} are read")));
    }
    // Grows with what arrives, so that a length alone takes no memory.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    wire::read(&bytes).map(Some).map_err(io::Error::other)
}
