//! Views: functions that draw layouts, conversions, memories and instructions.
//!
//! A view takes layouts and returns a [`Picture`](crate::Picture).

mod access;
mod axes;
mod banks;
mod colour_by;
mod conversion;
mod difference;
mod global;
mod hardware;
mod instruction;
mod layout;
mod matrix;
mod memory;
mod origin;
mod positions;
mod runs;
mod side;
mod sliced;
mod stacked;
mod steps;
mod tensor;
mod tensor_tile;
mod wavefront;

pub use colour_by::ColourBy;
pub use conversion::{ConversionView, conversion};
pub use difference::difference;
pub use global::{GlobalView, global};
pub use instruction::instruction;
pub use layout::{LayoutOptions, layout};
pub use matrix::{matrix, matrix_grid};
pub use memory::{MemoryView, memory};
pub use steps::{composition, division};
