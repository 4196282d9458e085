//! The views: pictures of layouts.
//!
//! A view reads layouts and builds a [`Picture`](crate::Picture); each has a file of its own.

mod axes;
mod difference;
mod hardware;
mod layout;
mod link;
mod matrix;
mod positions;
mod steps;
mod tensor;

pub use difference::difference;
pub use layout::{ColourBy, LayoutOptions, layout};
pub use link::{element_link, position_link};
pub use matrix::{bit_names, matrix, matrix_grid};
pub use steps::{composition, division};
