//! Kernel IR as SPIR-V: what comes out says what went in, and passes the checks of others.

mod codegen;
mod evaluate;
mod issue;
mod kernels;
mod meaning;
mod operations;
use tilewright_vendor_testkit::operations as programs;
mod rejection;
mod validation;
