//! Tests of the crate `plugin` that need tools other than Rust's toolchain and its linker.

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod header;

fn main() -> ExitCode {
    let tests = vec![
        external_test!(header::the_header_is_cpp17, [Need::program("c++")]),
        external_test!(header::the_rust_plugin_exports_one_symbol, [Need::program("nm")]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
