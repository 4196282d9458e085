//! Errors in drawing a picture.

use thiserror::Error;
use tilewright_layout::LayoutError;

/// Log2 of the max number of cells of a grid.
pub(crate) const MOST_BITS: u32 = 16;

/// The reason why there is no picture; each message names a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The object has more cells than the limit of a picture.
    #[error("{what} has 2^{bits} cells, and a picture shows at most 2^{most}; {remedy}")]
    TooLarge {
        /// Name of the object that was to be drawn.
        what: String,
        /// Log2 of the object's number of cells.
        bits: u32,
        /// Log2 of the max number of cells that a picture shows.
        most: u32,
        /// The remedy that the message suggests.
        remedy: String,
    },
    /// The object has no picture of the requested kind.
    #[error("{what} cannot be drawn: {reason}; {remedy}")]
    NotDrawable {
        /// Name of the object that was to be drawn.
        what: String,
        /// The reason why the object cannot be drawn.
        reason: String,
        /// The remedy that the message suggests.
        remedy: String,
    },
    /// An operation on the layouts to draw failed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl PictureError {
    pub(crate) fn not_drawable(what: impl Into<String>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::NotDrawable { what: what.into(), reason: reason.into(), remedy: remedy.into() }
    }

    /// Returns [`Self::TooLarge`] as an error if 2^`bits` cells are more than 2^`most`.
    pub(crate) fn limit(what: &str, bits: u32, most: u32, remedy: impl Into<String>) -> Result<(), Self> {
        match bits <= most {
            true => Ok(()),
            false => Err(Self::TooLarge { what: what.to_owned(), bits, most, remedy: remedy.into() }),
        }
    }
}

/// Returns an error for a tile with more cells than a grid may have.
pub(crate) fn check_size(what: &str, bits: u32) -> Result<(), PictureError> {
    PictureError::limit(what, bits, MOST_BITS, "draw a smaller tile of it")
}
