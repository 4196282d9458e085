//! Tests of `verify` that need the external data.

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod cases;

fn main() -> ExitCode {
    external::run(
        env!("CARGO_PKG_NAME"),
        vec![external_test!(cases::all_cases_are_read, [Need::shared("kernels/cases")])],
    )
}
