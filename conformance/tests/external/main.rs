//! Tests of the suite that need the data beside the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::{all_answers, external};

#[path = "../suite/product.rs"]
mod product;

fn main() -> ExitCode {
    let tests = vec![all_answers!(product::check_known_answers_are_right_of_every_plugin, ["oracle"])];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
