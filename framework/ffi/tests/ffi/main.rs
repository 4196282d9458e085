//! Tests of the crate `ffi`, one module for each subject.

mod calls;
mod compiler;
mod header;
mod run;
