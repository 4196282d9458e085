//! Tests of `math` that take hours and run on request.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod all_singles;
#[path = "../math/functions.rs"]
mod functions;
#[path = "../math/reference.rs"]
mod reference;

fn main() -> ExitCode {
    let why = "it is not set; functions that it names are run on all 2^32 arguments";
    let requested = Need::of(
        all_singles::ALL_SINGLES,
        std::env::var_os(all_singles::ALL_SINGLES).is_none().then(|| why.to_owned()),
    );
    external::run(env!("CARGO_PKG_NAME"), vec![external_test!(all_singles::all_singles, [requested])])
}
