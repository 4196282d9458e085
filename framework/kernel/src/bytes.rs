//! Modules as bytes: CBOR behind a version, for the plugin boundary.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cbor::{self, CborError, Value as Cbor};
use super::{Atomic, Binary, Cast, Compare, MAX_DEPTH, MathFunction, Module, Op, Unary};

/// The version of the byte form; a reader refuses later ones.
const VERSION: u32 = 1;

/// Levels of CBOR that a region adds: its statements, a statement, its operation, the operation's
/// fields, and the region itself.
const LEVELS_PER_REGION: usize = 5;

/// Levels of CBOR around the outermost region and within the innermost statement.
const LEVELS_AROUND: usize = 16;

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
struct Incoming<T> {
    version: u32,
    module: T,
}

/// The module as bytes.
#[must_use]
pub fn encode(module: &Module) -> Vec<u8> {
    // Writing to a vector fails only if a value has no byte form; every part of a module has.
    let written = cbor::write(&Outgoing { version: VERSION, module });
    debug_assert!(written.is_ok(), "{written:?}");
    written.unwrap_or_default()
}

/// The module of bytes made by [`encode`].
///
/// # Errors
/// [`DecodeError`]: bytes that are no module, of a later version, or with an unknown operation.
pub fn decode(bytes: &[u8]) -> Result<Module, DecodeError> {
    match read::<Module>(bytes) {
        Ok(Incoming { version, module }) if version <= VERSION => Ok(module),
        Ok(Incoming { version, .. }) => Err(later(version)),
        Err(mismatch) => Err(explain(bytes, mismatch)),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Incoming<T>, CborError> {
    let levels = LEVELS_PER_REGION * MAX_DEPTH + LEVELS_AROUND;
    cbor::read(bytes, levels).map(|(incoming, _)| incoming)
}

fn later(version: u32) -> DecodeError {
    DecodeError::Version { found: version, known: VERSION }
}

/// Why bytes are no module of this version: they may be of a later one, or have an operation of a later one.
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

/// Looks for operations that this version lacks, so that they can be named.
fn known_operations(value: &Cbor) -> Result<(), DecodeError> {
    match value {
        Cbor::Array(items) => items.iter().try_for_each(known_operations),
        Cbor::Map(entries) => {
            // A statement is a map with results and an operation.
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

/// The name of an operation that is unknown: one without fields is its name, one with fields a map
/// of the name to them. Within `binary` and its like, `op` says which, within `math` its `function`.
fn unknown_operation(op: &Cbor) -> Option<String> {
    let (name, fields) = match op {
        Cbor::Text(name) => (name.as_str(), None),
        Cbor::Map(entries) => match entries.as_slice() {
            [(name, fields)] => (as_text(name)?, Some(fields)),
            _ => return None,
        },
        _ => return None,
    };
    if !Op::NAMES.contains(&name) {
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
