//! Serialized modules: CBOR with a version, for the plugin boundary.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cbor::{self, CborError, Value as Cbor};
use super::{Atomic, Binary, Cast, Compare, MAX_REGION_DEPTH, MathFunction, Module, Op, Unary};

/// The version of the serialized form; readers reject bytes of later versions.
const VERSION: u32 = 1;

/// Number of CBOR nesting levels that a region adds: its statements, a statement, its operation, the operation's
/// fields, and the region itself.
const LEVELS_PER_REGION: usize = 5;

/// Number of CBOR nesting levels around the outermost region and within the innermost statement, together.
const LEVELS_AROUND: usize = 16;

/// An error in the bytes of a serialized module: malformed bytes, or bytes of a newer version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An operation that this version does not know.
    #[error("unknown kernel operation `{0}`")]
    UnknownOperation(String),
    /// Bytes written by a later version.
    #[error("module bytes are of version {found}, this reader knows up to {known}")]
    Version {
        /// The version that the bytes state.
        found: u32,
        /// The latest version that this reader knows.
        known: u32,
    },
    /// The bytes are not a serialized module.
    #[error("malformed module bytes: {0}")]
    Malformed(String),
}

#[derive(Serialize)]
struct Outgoing<'a> {
    version: u32,
    module: &'a Module,
}

#[derive(Deserialize)]
struct Incoming<T> {
    version: u32,
    module: T,
}

/// Serializes a module.
#[must_use]
pub fn encode_module(module: &Module) -> Vec<u8> {
    // Only a value without a serialized form makes the write to a vector fail; a module has no such value.
    let written = cbor::to_cbor(&Outgoing { version: VERSION, module });
    debug_assert!(written.is_ok(), "{written:?}");
    written.unwrap_or_default()
}

/// Deserializes a module from bytes of [`encode_module`].
///
/// # Errors
/// [`DecodeError`]: malformed bytes, a later version, or an unknown operation.
pub fn decode_module(bytes: &[u8]) -> Result<Module, DecodeError> {
    match read::<Module>(bytes) {
        Ok(Incoming { version, module }) if version <= VERSION => Ok(module),
        Ok(Incoming { version, .. }) => Err(later(version)),
        Err(mismatch) => Err(explain(bytes, mismatch)),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Incoming<T>, CborError> {
    let levels = LEVELS_PER_REGION * MAX_REGION_DEPTH + LEVELS_AROUND;
    cbor::take_cbor_value(bytes, levels).map(|(incoming, _)| incoming)
}

fn later(version: u32) -> DecodeError {
    DecodeError::Version { found: version, known: VERSION }
}

/// Returns the error for bytes that cannot be read: a later version, an unknown operation, or malformed bytes.
fn explain(bytes: &[u8], mismatch: CborError) -> DecodeError {
    match read::<Cbor>(bytes) {
        Ok(Incoming { version, .. }) if version > VERSION => later(version),
        Ok(Incoming { module, .. }) => match known_operations(&module) {
            Err(unknown) => unknown,
            Ok(()) => DecodeError::Malformed(mismatch.message),
        },
        Err(mismatch) => DecodeError::Malformed(mismatch.message),
    }
}

/// Checks that this version knows every operation in the CBOR of a module.
///
/// # Errors
/// [`DecodeError::UnknownOperation`] with the first unknown operation.
fn known_operations(value: &Cbor) -> Result<(), DecodeError> {
    match value {
        Cbor::Array(items) => items.iter().try_for_each(known_operations),
        Cbor::Map(entries) => {
            // A CBOR map with the keys of results and of an operation is a statement.
            if field(entries, "results").is_some()
                && let Some(name) = field(entries, "op").and_then(unknown_operation)
            {
                return Err(DecodeError::UnknownOperation(name));
            }
            entries.iter().try_for_each(|(_, value)| known_operations(value))
        }
        _ => Ok(()),
    }
}

fn field<'a>(entries: &'a [(Cbor, Cbor)], name: &str) -> Option<&'a Cbor> {
    entries.iter().find(|(key, _)| as_text(key) == Some(name)).map(|(_, value)| value)
}

fn as_text(value: &Cbor) -> Option<&str> {
    if let Cbor::Text(text) = value { Some(text) } else { None }
}

/// Returns the name of an operation that this version does not know; `None` if it knows the operation. An operation
/// without fields is serialized as its name, one with fields as a map from its name to them. The field `op` (in `math`
/// the field `function`) selects the kind of a `unary`, `binary` or similar operation; an unknown kind is returned
/// after the name.
fn unknown_operation(op: &Cbor) -> Option<String> {
    let (name, fields) = match op {
        Cbor::Text(name) => (name.as_str(), None),
        Cbor::Map(entries) => match entries.as_slice() {
            [(name, fields)] => (as_text(name)?, Some(fields)),
            _ => return None,
        },
        _ => return None,
    };
    if !Op::NAMES_IN_BYTES.contains(&name) {
        return Some(name.to_owned());
    }
    let Cbor::Map(fields) = fields? else { return None };
    let which = as_text(field(fields, "op").or_else(|| field(fields, "function"))?)?;
    let known = match name {
        "unary" => Unary::ALL.iter().any(|op| op.name() == which),
        "binary" => Binary::ALL.iter().any(|op| op.name() == which),
        "compare" => Compare::ALL.iter().any(|op| op.name() == which),
        "atomic_rmw" => Atomic::ALL.iter().any(|op| op.name() == which),
        "math" => MathFunction::ALL.iter().any(|function| function.name() == which),
        "cast" => Cast::ALL.iter().any(|op| op.name() == which),
        _ => true,
    };
    (!known).then(|| format!("{name} {which}"))
}
