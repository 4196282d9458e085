//! Modules as bytes: CBOR behind a version, for the plugin boundary.

use ciborium::Value as Cbor;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Module, Op};

/// The version of the byte form; a reader refuses later ones.
const VERSION: u32 = 1;

/// Regions may nest this deep on the wire.
const MAX_DEPTH: usize = 64;

/// Bytes that are no module this version can read. The writer's fault, or a newer writer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An operation that this version does not know.
    #[error("unknown kernel operation `{0}`")]
    UnknownOperation(String),
    /// Bytes written by a later version.
    #[error("module bytes are of version {found}, this reader knows up to {known}")]
    Version {
        /// What the bytes say.
        found: u32,
        /// The latest known.
        known: u32,
    },
    /// Not the byte form of a module.
    #[error("malformed module bytes: {0}")]
    Malformed(String),
}

#[derive(Serialize)]
struct Outgoing<'a> {
    version: u32,
    module: &'a Module,
}

#[derive(Deserialize)]
struct Incoming {
    version: u32,
    module: Cbor,
}

/// The module as bytes.
#[must_use]
pub fn encode(module: &Module) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a vector fails only where a value has no byte form; every part of a module has.
    let written = ciborium::into_writer(&Outgoing { version: VERSION, module }, &mut bytes);
    debug_assert!(written.is_ok(), "{written:?}");
    bytes
}

/// The module of bytes made by [`encode`].
///
/// # Errors
/// [`DecodeError`]: bytes that are no module, of a later version, or with an unknown operation.
pub fn decode(bytes: &[u8]) -> Result<Module, DecodeError> {
    let malformed = |error: String| DecodeError::Malformed(error);
    let incoming: Incoming = ciborium::de::from_reader_with_recursion_limit(bytes, 4 * MAX_DEPTH)
        .map_err(|error| malformed(error.to_string()))?;
    if incoming.version > VERSION {
        return Err(DecodeError::Version { found: incoming.version, known: VERSION });
    }
    known_operations(&incoming.module)?;
    incoming.module.deserialized().map_err(|error| malformed(error.to_string()))
}

/// Looks for operations that this version lacks, so that they can be named.
fn known_operations(value: &Cbor) -> Result<(), DecodeError> {
    match value {
        Cbor::Array(items) => items.iter().try_for_each(known_operations),
        Cbor::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            if key.as_text() == Some("op")
                && let Some(name) = operation_name(value)
            {
                return Err(DecodeError::UnknownOperation(name.to_owned()));
            }
            known_operations(value)
        }),
        _ => Ok(()),
    }
}

/// The name of an unknown operation. An operation is a map of its one name to its fields; the `op`
/// within `binary` and its like is plain text and not meant here.
fn operation_name(value: &Cbor) -> Option<&str> {
    let [(name, _)] = value.as_map()?.as_slice() else { return None };
    name.as_text().filter(|name| !Op::NAMES.contains(name))
}
