//! Tests of the emulator, one module per subject.

mod asynchronous;
mod casts;
mod clusters;
mod counts;
mod faults;
mod global_memory;
mod programs;
mod scalars;
mod tensor;
mod values;
