//! The envelope of messages that cross the plugin boundary: CBOR of `{"version": 1, "body": ...}`.
//!
//! Nesting depth and length are bounded, unknown fields are skipped, and envelopes of later versions are rejected.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_kernel::cbor::{self, CborError, Value};

/// The version of the envelope that this code writes, and the latest that it reads.
pub const WIRE_VERSION: u32 = 1;

/// Max bytes of a message.
pub const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// Max nesting depth of a message.
pub const MAX_MESSAGE_DEPTH: usize = 128;

/// The reason why a message from the other side cannot be read; the fault of the writer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message has more than [`MAX_MESSAGE_BYTES`] bytes.
    #[error("{length} bytes, where at most {MAX_MESSAGE_BYTES} are read")]
    TooLong {
        /// The length of the message in bytes.
        length: usize,
    },
    /// A later version of the envelope.
    #[error("written in version {found} of the envelope, this reader knows up to {WIRE_VERSION}")]
    Version {
        /// The version in the envelope.
        found: u32,
    },
    /// The bytes are no CBOR, or CBOR of another type.
    #[error("malformed: {0}")]
    Malformed(String),
}

#[derive(Serialize)]
struct Outgoing<'a, T> {
    version: u32,
    body: &'a T,
}

#[derive(Deserialize)]
struct Incoming<T> {
    version: u32,
    body: T,
}

/// Serialises a value in an envelope.
///
/// # Errors
/// [`WireError`] if the value has no CBOR form or is too long.
pub fn serialize_message<T: Serialize>(body: &T) -> Result<Vec<u8>, WireError> {
    let bytes = cbor::to_cbor(&Outgoing { version: WIRE_VERSION, body })
        .map_err(|error| WireError::Malformed(error.message))?;
    within_bounds(bytes.len())?;
    Ok(bytes)
}

/// Deserialises a value that [`serialize_message()`] serialised.
///
/// # Errors
/// [`WireError`] if the message is too long, its envelope is of a later version, or its body is no `T`.
pub fn deserialize_message<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    read_body(bytes)?.map_err(WireError::from)
}

/// Deserialises a value that [`serialize_message()`] serialised, and skips list entries with a variant of a later
/// version; `skippable` has the paths of these lists. Other faults in entries are errors.
pub(super) fn read_without_unknown<T: DeserializeOwned>(
    bytes: &[u8],
    skippable: &[(&[&str], IsUnknown)],
) -> Result<T, WireError> {
    // A body without unknown variants, the usual case, is read in one pass; only otherwise are the entries checked one
    // by one.
    match read_body(bytes)? {
        Err(mismatch) if mismatch.unknown_variant => {
            let mut body: Value = deserialize_message(bytes)?;
            skippable.iter().for_each(|(path, is_unknown)| skip_rows(&mut body, path, *is_unknown));
            deserialize_message(&serialize_message(&body)?)
        }
        read => read.map_err(WireError::from),
    }
}

/// Reads the body of an envelope of a known version as a `T`. The outer error concerns the envelope, the inner error
/// means that the body is no `T`.
fn read_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<Result<T, CborError>, WireError> {
    within_bounds(bytes.len())?;
    let found = match cbor::take_cbor_value::<Incoming<T>>(bytes, MAX_MESSAGE_DEPTH) {
        Ok((incoming, [])) => Ok(incoming),
        Ok((_, rest)) => return Err(WireError::Malformed(format!("{} bytes after the end", rest.len()))),
        Err(mismatch) => Err(mismatch),
    };
    // The body of a later version may be of another type, so the version is checked before an error in the body is
    // reported.
    let version = match &found {
        Ok(incoming) => incoming.version,
        Err(_) => cbor::take_cbor_value::<Incoming<IgnoredAny>>(bytes, MAX_MESSAGE_DEPTH)?.0.version,
    };
    if version > WIRE_VERSION {
        return Err(WireError::Version { found: version });
    }
    Ok(found.map(|incoming| incoming.body))
}

fn within_bounds(length: usize) -> Result<(), WireError> {
    if length > MAX_MESSAGE_BYTES { Err(WireError::TooLong { length }) } else { Ok(()) }
}

impl From<CborError> for WireError {
    fn from(mismatch: CborError) -> Self {
        Self::Malformed(mismatch.message)
    }
}

/// Function that returns whether the bytes of a list entry have a variant unknown to this version.
pub(super) type IsUnknown = fn(&[u8]) -> bool;

/// Whether an entry of type `T` has a variant unknown to this version: an [`IsUnknown`] function.
pub(super) fn is_unknown<T: DeserializeOwned>(row: &[u8]) -> bool {
    cbor::take_cbor_value::<T>(row, MAX_MESSAGE_DEPTH).is_err_and(|mismatch| mismatch.unknown_variant)
}

fn skip_rows(value: &mut Value, path: &[&str], is_unknown: IsUnknown) {
    match (path, value) {
        ([first, rest @ ..], Value::Map(map)) => {
            let inner = map.iter_mut().filter(|(key, _)| matches!(key, Value::Text(name) if name == first));
            inner.for_each(|(_, value)| skip_rows(value, rest, is_unknown));
        }
        ([], Value::Array(rows)) => rows.retain(|row| !cbor::to_cbor(row).is_ok_and(|row| is_unknown(&row))),
        _ => {}
    }
}
