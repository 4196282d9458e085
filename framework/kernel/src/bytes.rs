//! Modules as bytes: CBOR behind a version, for the plugin boundary.

use ciborium::Value as Cbor;
use serde::{Deserialize, Serialize};
use thiserror::Error;

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
    let levels = LEVELS_PER_REGION * MAX_DEPTH + LEVELS_AROUND;
    let incoming: Incoming =
        ciborium::de::from_reader_with_recursion_limit(bytes, levels).map_err(|error| malformed(error.to_string()))?;
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
    entries.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value)
}

/// The name of an operation that is unknown: one without fields is its name, one with fields a map
/// of the name to them. Within `binary` and its like, `op` says which, within `math` its `function`.
fn unknown_operation(op: &Cbor) -> Option<String> {
    let (name, fields) = match op {
        Cbor::Text(name) => (name.as_str(), None),
        Cbor::Map(entries) => match entries.as_slice() {
            [(name, fields)] => (name.as_text()?, Some(fields)),
            _ => return None,
        },
        _ => return None,
    };
    if !Op::NAMES.contains(&name) {
        return Some(name.to_owned());
    }
    let fields = fields?.as_map()?;
    let which = field(fields, "op").or_else(|| field(fields, "function"))?.as_text()?;
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
