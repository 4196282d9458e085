//! Tests of `install`, one module for each subject.

mod artifacts;
mod hosts;
mod packages;
mod source_tree;
