//! Writes the layouts into a function: types, conversions, and values that are computed again.

mod again;
mod needed;
mod place;
mod rewriter;

use rewriter::Rewriter;
pub(super) use rewriter::{Left, rewrite};
