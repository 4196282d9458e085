//! `tilewright layout`: shows a layout, or performs an operation on layouts.

mod operation;
mod options;
mod show;
mod values;

pub use options::{Options, run};
pub use show::any_layout_to_json;
