//! Tests of `math`, one module for each subject.

mod casts;
mod exact;
mod functions;
mod truth;
