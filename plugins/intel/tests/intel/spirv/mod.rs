//! Kernel IR as SPIR-V: the output has the semantics of the input, and passes external checks.

mod codegen;
mod evaluate;
mod issue;
mod kernels;
mod operations;
mod semantics;
use tilewright_vendor_testkit::operations as programs;
mod rejection;
mod validation;
