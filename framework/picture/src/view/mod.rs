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
mod values;
mod wavefront;

pub use colour_by::ColourBy;
pub use conversion::{ConversionPictureSpec, draw_conversion};
pub use difference::draw_difference;
pub use global::{GlobalAccessPictureSpec, draw_global_accesses};
pub use instruction::draw_instruction;
pub use layout::{LayoutDrawingOptions, draw_layout};
pub use matrix::{draw_f2_matrix, draw_f2_matrix_grid};
pub use memory::{MemoryPictureSpec, draw_memory};
pub use steps::{draw_composition, draw_left_division};
pub use values::draw_layout_values;
