//! Errors of families.

use serde::{Deserialize, Serialize};
use strsim::levenshtein;
use thiserror::Error;

use super::LayoutError;

/// Why a family cannot build a layout.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum FamilyError {
    /// Nobody serves this family; the caller's fault, or a plugin is missing.
    #[error("unknown layout family `{name}`{}", nearest(.known, .name))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A parameter is missing, unknown, of the wrong type or out of range; the caller's fault.
    #[error("family `{family}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// The family.
        family: String,
        /// The parameter.
        parameter: String,
        /// The fault and the expectation.
        message: String,
    },
    /// The shape does not fit the family; the caller's fault.
    #[error("family `{family}`, shape {shape:?}: {message}")]
    Shape {
        /// The family.
        family: String,
        /// The shape.
        shape: Vec<u64>,
        /// The fault and the expectation.
        message: String,
    },
    /// The construction is not a layout.
    #[error("family `{family}`: {message}")]
    Layout {
        /// The family.
        family: String,
        /// The error of the layout algebra.
        message: String,
    },
    /// The plugin that serves the family broke; its fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}

/// The end of a message about an unknown name: the nearest known one.
pub(super) fn nearest<S: AsRef<str>>(known: &[S], name: &str) -> String {
    let names: Vec<_> = known.iter().map(S::as_ref).collect();
    let best = names.iter().map(|&candidate| (levenshtein(candidate, name), candidate)).min();
    match best {
        Some((distance, candidate)) if distance <= 3 => format!("; did you mean `{candidate}`?"),
        _ if names.is_empty() => String::new(),
        _ => format!("; known are {}", names.join(", ")),
    }
}

impl FamilyError {
    /// Reports what the algebra says of a family's construction.
    #[must_use]
    pub fn of_layout(family: &str, error: &LayoutError) -> Self {
        Self::Layout { family: family.to_owned(), message: error.to_string() }
    }
}
