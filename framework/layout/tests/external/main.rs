//! Tests of `layout` against all known answers, from the data folder outside of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::{all_answers, external};

#[path = "../layout/cute_known_answers.rs"]
mod cute_known_answers;
#[path = "../layout/notation.rs"]
mod notation;
#[path = "../layout/oracle.rs"]
mod oracle;

const CUTE: &str = "reference/cute_algebra_cases.json";

fn main() -> ExitCode {
    let tests = vec![
        all_answers!(notation::check_every_layout_comes_back_from_its_text, ["oracle/layouts.jsonl"]),
        all_answers!(oracle::check_neutral_families_agree, ["oracle/layouts.jsonl"]),
        all_answers!(oracle::check_operations_agree, ["oracle/algebra.jsonl"]),
        all_answers!(cute_known_answers::check_operations_give_the_known_answers, [CUTE]),
        all_answers!(cute_known_answers::check_where_implementations_differ_the_law_decides, [CUTE]),
        all_answers!(cute_known_answers::check_hard_compositions_are_exact_or_refused_with_a_counterexample, [CUTE]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
