//! Tests of the crate `picture`, one module for each subject.

mod accesses;
mod any_layout;
mod conversions;
mod golden;
mod golden_movement;
mod kept;
mod renderers;
mod samples;
mod views;
