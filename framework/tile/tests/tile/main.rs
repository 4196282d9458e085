//! Tests of `tile`, one module for each subject.

mod errors;
mod explicit;
mod facts;
mod text;
mod transform;
