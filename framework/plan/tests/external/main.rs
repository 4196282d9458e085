//! Tests of the crate `plan` against all known answers, which are not part of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::{all_answers, external};

#[path = "../plan/prices.rs"]
mod prices;

fn main() -> ExitCode {
    let tests =
        vec![all_answers!(prices::check_no_plan_is_slower_than_what_triton_emits, ["oracle/conversions.jsonl"])];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
