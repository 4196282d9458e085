//! Tests of `llvm`, one module for each subject.

mod dialect;
mod folding;
mod refusals;
