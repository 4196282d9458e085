//! Tests of `dialects`, one module for each subject.

mod imports;
mod programs;
