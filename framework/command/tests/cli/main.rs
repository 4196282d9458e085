//! Tests of the command `tilewright`, one module for each subject.

mod batch;
mod batch_cute;
mod choices;
mod clusters;
mod command;
mod dialects;
mod dot;
mod draw;
mod explained;
mod images;
mod instructions;
mod limits;
mod memory;
mod movement;
mod notations;
mod operations;
mod plugins;
mod predicted;
mod programs;
mod readme;
mod refusals;
