//! Tests of the crate `dialects`, one module for each subject.

mod imports;
mod programs;
mod verifier;
