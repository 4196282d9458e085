//! Tests of the crate `targets`, one module for each subject.

mod catalogue;
mod json_schema;
mod schema;
mod wavefronts;
