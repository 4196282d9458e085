//! Tests of `kernel`, one module for each subject.

mod asynchronous;
mod clusters;
mod programs;
mod text;
mod verify;
