//! Tests of `target`, one module for each subject.

mod files;
mod seed_000;
mod seed_002;
mod wavefronts;
