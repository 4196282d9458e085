//! The envelope in which structured values cross: CBOR of `{"version": 1, "body": ...}`.
//!
//! Depth and length are bounded, fields that the reader does not know are skipped, and later
//! versions are refused by number.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_kernel::cbor::{self, CborError, Value};

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
struct Incoming<T> {
    version: u32,
    body: T,
}

/// The bytes of a value, in an envelope.
///
/// # Errors
/// [`WireError`] where the value has no byte form or is too long.
pub fn write<T: Serialize>(body: &T) -> Result<Vec<u8>, WireError> {
    let bytes = cbor::write(&Outgoing { version: WIRE_VERSION, body }).map_err(WireError::Malformed)?;
    within_bounds(bytes.len())?;
    Ok(bytes)
}

/// The value that [`write()`] wrote.
///
/// # Errors
/// [`WireError`].
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    read_body(bytes)?.map_err(WireError::from)
}

/// The value that [`write()`] wrote, without the rows of the lists at `skippable`, each a path of fields, that have a variant of a
/// later version. Rows that are wrong otherwise are reported.
pub(super) fn read_without_unknown<T: DeserializeOwned>(
    bytes: &[u8],
    skippable: &[(&[&str], IsUnknown)],
) -> Result<T, WireError> {
    // Most often there is nothing to skip, and each row is read once.
    match read_body(bytes)? {
        Err(mismatch) if mismatch.unknown_variant => {
            let mut body: Value = read(bytes)?;
            skippable.iter().for_each(|(path, is_unknown)| skip_rows(&mut body, path, *is_unknown));
            read(&write(&body)?)
        }
        read => read.map_err(WireError::from),
    }
}

/// The body of an envelope that is none of a later version, if it is a `T`.
fn read_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<Result<T, CborError>, WireError> {
    within_bounds(bytes.len())?;
    let found = match cbor::read::<Incoming<T>>(bytes, MAX_DEPTH) {
        Ok((incoming, [])) => Ok(incoming),
        Ok((_, rest)) => return Err(WireError::Malformed(format!("{} bytes after the end", rest.len()))),
        Err(mismatch) => Err(mismatch),
    };
    // A later version's body may be of another type, so its number counts first.
    let version = match &found {
        Ok(incoming) => incoming.version,
        Err(_) => cbor::read::<Incoming<IgnoredAny>>(bytes, MAX_DEPTH)?.0.version,
    };
    if version > WIRE_VERSION {
        return Err(WireError::Version { found: version });
    }
    Ok(found.map(|incoming| incoming.body))
}

fn within_bounds(length: usize) -> Result<(), WireError> {
    if length > MAX_BYTES { Err(WireError::TooLong { length }) } else { Ok(()) }
}

impl From<CborError> for WireError {
    fn from(mismatch: CborError) -> Self {
        Self::Malformed(mismatch.message)
    }
}

/// Whether a row's bytes have a variant that this version does not know.
pub(super) type IsUnknown = fn(&[u8]) -> bool;

/// [`IsUnknown`] of rows that are each a `T`.
pub(super) fn is_unknown<T: DeserializeOwned>(row: &[u8]) -> bool {
    cbor::read::<T>(row, MAX_DEPTH).is_err_and(|mismatch| mismatch.unknown_variant)
}

fn skip_rows(value: &mut Value, path: &[&str], is_unknown: IsUnknown) {
    match (path, value) {
        ([first, rest @ ..], Value::Map(map)) => {
            let inner = map.iter_mut().filter(|(key, _)| matches!(key, Value::Text(name) if name == first));
            inner.for_each(|(_, value)| skip_rows(value, rest, is_unknown));
        }
        ([], Value::Array(rows)) => rows.retain(|row| !cbor::write(row).is_ok_and(|row| is_unknown(&row))),
        _ => {}
    }
}
