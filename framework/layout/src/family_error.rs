//! Errors of families.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{LayoutError, similar_name_hint};

/// The reason why a family cannot build a layout.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum FamilyError {
    /// No provider serves this family; the caller's fault, or a plugin is missing.
    #[error("unknown layout family `{name}`{}", similar_name_hint(.known, .name))]
    Unknown {
        /// The requested name of a family.
        name: String,
        /// The names of all families that the providers have.
        known: Vec<String>,
    },
    /// A parameter is missing, unknown, of the wrong type or out of range; the caller's fault.
    #[error("family `{family}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// Name of the family.
        family: String,
        /// Name of the parameter.
        parameter: String,
        /// The error in the parameter, and the expected value.
        message: String,
    },
    /// The shape does not fit the family; the caller's fault.
    #[error("family `{family}`, shape {shape:?}: {message}")]
    Shape {
        /// Name of the family.
        family: String,
        /// The shape of the tensor.
        shape: Vec<u64>,
        /// The error in the shape, and the expected shape.
        message: String,
    },
    /// The layout algebra rejected the family's construction.
    #[error("family `{family}`: {message}")]
    Layout {
        /// Name of the family.
        family: String,
        /// The error of the layout algebra.
        message: String,
    },
    /// The plugin that provides the family failed, with its message; the plugin's fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}

impl FamilyError {
    /// Converts an error of the layout algebra that occurred while a family built a layout.
    #[must_use]
    pub fn from_layout_error(family: &str, error: &LayoutError) -> Self {
        Self::Layout { family: family.to_owned(), message: error.to_string() }
    }
}
