//! The views: pictures of layouts.
//!
//! A view reads layouts and builds a [`Picture`](crate::Picture); each has a file of its own.

mod axes;
mod colour_by;
mod conversion;
mod difference;
mod global;
mod hardware;
mod instruction;
mod layout;
mod link;
mod matrix;
mod memory;
mod origin;
mod positions;
mod steps;
mod tensor;
mod tensor_tile;

pub use colour_by::ColourBy;
pub use conversion::{ConversionView, conversion};
pub use difference::difference;
pub use global::{GlobalView, global};
pub use instruction::instruction;
pub use layout::{LayoutOptions, layout};
pub use link::{element_link, position_link};
pub use matrix::{bit_names, matrix, matrix_grid};
pub use memory::{MemoryView, memory};
pub use steps::{composition, division};
