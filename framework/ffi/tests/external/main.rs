//! Tests of the C interface that need more tools than Rust's toolchain and its linker.

use std::process::ExitCode;

use tilewright_testkit::external::{self, ExternalTest, Need};

#[path = "../ffi/compiler.rs"]
mod compiler;

fn main() -> ExitCode {
    let cpp = ExternalTest::new("header::the_headers_are_cpp17", [Need::program("c++")], || {
        compiler::accept("c++", "-std=c++17", "header.cpp");
    });
    external::run(env!("CARGO_PKG_NAME"), vec![cpp])
}
