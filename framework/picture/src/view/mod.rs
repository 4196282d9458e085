//! The views: pictures of layouts.
//!
//! A view reads layouts and builds a [`Picture`](crate::Picture); each has a file of its own.

mod link;
mod matrix;
mod memory;

pub use link::{element_link, position_link};
pub use matrix::{bit_names, matrix, matrix_grid};
pub use memory::{MemoryView, memory};
