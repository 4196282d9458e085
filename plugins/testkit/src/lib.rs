//! Tests that the plugins of every vendor run: functions whose parameters are a target and test cases.

#![allow(clippy::unwrap_used)]

pub mod accesses;
pub mod assigned;
pub mod clusters;
pub mod code;
pub mod conversions;
pub mod copied_program;
pub mod copies;
pub mod damage;
pub mod dots;
pub mod emulated;
pub mod explicit;
pub mod exponentials;
pub mod kernels;
pub mod layouts;
pub mod lines;
pub mod memory_choice;
pub mod movement;
pub mod operations;
pub mod parameters;
pub mod plans;
pub mod prelude;
pub mod prices;
pub mod program_accesses;
pub mod programs;
pub mod recorded_counts;
pub mod reductions;
pub mod refused_walks;
pub mod rows;
pub mod shared_counts;
pub mod staged_program;
pub mod targets;
pub mod tile_types;
