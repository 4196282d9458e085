//! Tests of the conformance suite that need data outside of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::{all_answers, external};

#[path = "../suite/repository.rs"]
mod repository;

fn main() -> ExitCode {
    let tests = vec![all_answers!(repository::check_known_answers_are_right_of_every_plugin, ["oracle"])];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
