//! Kernel IR as SPIR-V: what comes out says what went in, and passes the checks of others.

mod codegen;
mod evaluate;
mod issue;
mod kernels;
mod meaning;
mod operations;
#[path = "../../../llvm/tests/operations/mod.rs"]
mod programs;
mod rejection;
mod tools;
mod validation;
