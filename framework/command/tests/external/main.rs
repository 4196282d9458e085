//! Tests of the command that need system tools or data outside of the repository.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::{all_answers, external_test};

#[path = "../cli/batch.rs"]
mod batch;
#[path = "../cli/batch_cute.rs"]
mod batch_cute;
#[path = "../cli/command/mod.rs"]
mod command;
mod images;
mod layouts;
#[path = "../cli/images.rs"]
mod plugins;

const CUTE: &str = "reference/cute_algebra_cases.json";

fn main() -> ExitCode {
    let readelf = || Need::program("readelf");
    let suite = || {
        let (suite, why) = (images::suite(), "it is not built: run the tests of the whole workspace");
        Need::of("the suite's program", (!suite.is_file()).then(|| why.to_owned()))
    };
    let tests = vec![
        external_test!(images::every_vendors_plugin_exports_one_symbol, [Need::program("nm")]),
        external_test!(images::the_command_does_not_link_llvm, [readelf()]),
        external_test!(images::the_suite_does_not_link_llvm, [readelf(), suite()]),
        all_answers!(layouts::check_all_known_layouts, ["oracle/layouts.jsonl"]),
        all_answers!(batch::check_operations_on_layouts_are_as_known, ["oracle/algebra.jsonl"]),
        all_answers!(batch_cute::check_known_answers_come_out, [CUTE]),
        all_answers!(batch_cute::check_known_answers_come_out_of_layouts_in_cpp, [CUTE]),
        all_answers!(batch::check_bank_conflicts_are_as_counted, ["oracle/bank_conflicts.jsonl"]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}
