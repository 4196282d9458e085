//! Tests of `install`, one module for each subject.

mod hosts;
mod packages;
