//! Tests of the crate `dialects` that need programs outside of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod foreign_ops;
#[path = "../dialects/imports.rs"]
mod imports;
mod programs;

fn main() -> ExitCode {
    let programs = || Need::shared("kernels");
    let tests = vec![
        external_test!(programs::real_programs_are_written_as_they_were_read, [programs()]),
        external_test!(foreign_ops::real_programs_have_no_foreign_ops_after, [programs()]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
