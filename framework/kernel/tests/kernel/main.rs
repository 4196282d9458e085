//! Tests of `kernel`, one module per subject.

mod asynchronous;
mod clusters;
mod programs;
mod source;
mod text;
mod verify;
