//! Tests of `target`, one module for each subject.

mod dominators;
mod files;
mod formats;
mod seed_000;
mod seed_002;
mod wavefronts;
