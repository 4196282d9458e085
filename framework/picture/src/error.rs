//! Why something cannot be drawn.

use thiserror::Error;
use tilewright_layout::LayoutError;

/// Log2 of the most cells that a grid is drawn with.
pub(crate) const MOST_BITS: u32 = 16;

/// Why a view has no picture; each says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// More cells than a picture can show.
    #[error("{what} has 2^{bits} cells, and a picture shows at most 2^{most}; {remedy}")]
    TooLarge {
        /// What should have been drawn.
        what: String,
        /// Log2 of its cells.
        bits: u32,
        /// Log2 of the most that is drawn.
        most: u32,
        /// What to do.
        remedy: String,
    },
    /// The view does not apply to what was given.
    #[error("{what} cannot be drawn: {reason}; {remedy}")]
    NotDrawable {
        /// What should have been drawn.
        what: String,
        /// Why it cannot be.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The algebra has no result to show.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl PictureError {
    pub(crate) fn not_drawable(what: impl Into<String>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::NotDrawable { what: what.into(), reason: reason.into(), remedy: remedy.into() }
    }

    /// Refuses more than 2^`most` cells.
    pub(crate) fn limit(what: &str, bits: u32, most: u32, remedy: impl Into<String>) -> Result<(), Self> {
        match bits <= most {
            true => Ok(()),
            false => Err(Self::TooLarge { what: what.to_owned(), bits, most, remedy: remedy.into() }),
        }
    }
}

/// Refuses a tile that has more cells than a reader can look at.
pub(crate) fn check_size(what: &str, bits: u32) -> Result<(), PictureError> {
    PictureError::limit(what, bits, MOST_BITS, "draw a smaller tile of it")
}
