//! Why something cannot be drawn.

use thiserror::Error;
use tilewright_layout::LayoutError;

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
