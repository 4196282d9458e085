//! Reads text: one cursor and one error for every notation of the workspace.

mod cursor;
mod error;
mod quoted;

pub use cursor::{Cursor, Parsed, is_identifier};
pub use error::TextError;
pub use quoted::Quoted;
