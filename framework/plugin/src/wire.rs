//! The envelope in which structured values cross: CBOR of `{"version": 1, "body": ...}`.
//!
//! Depth and length are bounded, fields that the reader does not know are skipped, and later
//! versions are refused by number.

use ciborium::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::lenient::{self, Mismatch};

/// The version that this code writes, and the latest that it reads.
pub const WIRE_VERSION: u32 = 1;

/// No value that crosses is longer, in bytes.
pub const MAX_BYTES: usize = 256 << 20;

/// No value that crosses is nested deeper.
pub const MAX_DEPTH: usize = 128;

/// Why bytes from the other side cannot be read; the writer's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// More bytes than [`MAX_BYTES`].
    #[error("{length} bytes, where at most {MAX_BYTES} are read")]
    TooLong {
        /// How many there are.
        length: usize,
    },
    /// A later version of the envelope.
    #[error("written in version {found} of the envelope, this reader knows up to {WIRE_VERSION}")]
    Version {
        /// The version that was found.
        found: u32,
    },
    /// No CBOR, or CBOR of something else.
    #[error("malformed: {0}")]
    Malformed(String),
}

#[derive(Serialize)]
struct Outgoing<'a, T> {
    version: u32,
    body: &'a T,
}

#[derive(Deserialize)]
struct Incoming {
    version: u32,
    body: Value,
}

/// The bytes of a value, in an envelope.
///
/// # Errors
/// [`WireError`] where the value has no byte form or is too long.
pub fn write<T: Serialize>(body: &T) -> Result<Vec<u8>, WireError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(&Outgoing { version: WIRE_VERSION, body }, &mut bytes)
        .map_err(|error| WireError::Malformed(error.to_string()))?;
    within_bounds(bytes.len())?;
    Ok(bytes)
}

/// The value that [`write()`] wrote.
///
/// # Errors
/// [`WireError`].
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    Ok(lenient::from_value(&read_value(bytes)?)?)
}

/// The body of an envelope, still untyped.
pub(super) fn read_value(bytes: &[u8]) -> Result<Value, WireError> {
    within_bounds(bytes.len())?;
    let mut rest = bytes;
    let incoming: Incoming = ciborium::de::from_reader_with_recursion_limit(&mut rest, MAX_DEPTH)
        .map_err(|error| WireError::Malformed(error.to_string()))?;
    if incoming.version > WIRE_VERSION {
        return Err(WireError::Version { found: incoming.version });
    }
    if !rest.is_empty() {
        return Err(WireError::Malformed(format!("{} bytes after the end", rest.len())));
    }
    Ok(incoming.body)
}

fn within_bounds(length: usize) -> Result<(), WireError> {
    if length > MAX_BYTES { Err(WireError::TooLong { length }) } else { Ok(()) }
}

impl From<Mismatch> for WireError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Malformed(mismatch.message)
    }
}

/// Takes out of the list at `path` the rows with a variant that this version does not know, so
/// that the rest can be used. Rows that are wrong otherwise stay, to be reported.
pub(super) fn skip_unknown_rows<T: DeserializeOwned>(value: &mut Value, path: &[&str]) {
    if let [first, rest @ ..] = path {
        let Value::Map(map) = value else { return };
        let inner = map.iter_mut().filter(|(key, _)| key.as_text() == Some(first));
        inner.for_each(|(_, value)| skip_unknown_rows::<T>(value, rest));
    } else if let Value::Array(rows) = value {
        rows.retain(|row| !lenient::from_value::<T>(row).is_err_and(|error| error.unknown_variant));
    }
}
