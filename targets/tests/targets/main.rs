//! Tests of `targets`, one module for each subject.

mod catalogue;
mod schema;
mod wavefronts;
