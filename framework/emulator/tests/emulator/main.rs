//! Tests of `emulator`, one module for each subject.

mod asynchronous;
mod casts;
mod clusters;
mod counts;
mod faults;
mod programs;
mod scalars;
mod tensor;
mod values;
