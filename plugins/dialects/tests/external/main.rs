//! Tests of `dialects` that need the programs beside the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod foreign_words;
#[path = "../dialects/imports.rs"]
mod imports;
mod programs;

fn main() -> ExitCode {
    let programs = || Need::shared("kernels");
    let tests = vec![
        external_test!(programs::real_programs_are_written_as_they_were_read, [programs()]),
        external_test!(foreign_words::real_programs_have_no_foreign_words_after, [programs()]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
