//! Tests of `tilewright operations`, which describes the operations of tile programs.

use std::collections::BTreeSet;

use crate::command::{run, tilewright};

fn operations(name: &str) -> String {
    run(tilewright().args(["operations", name])).ok().to_owned()
}

/// The first words of the lines behind the header.
fn first_words(text: &str) -> Vec<&str> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn every_operation_is_listed() {
    let dialects = run(tilewright().arg("operations")).ok().to_owned();
    let listed: Vec<String> = first_words(&dialects).into_iter().map(operations).collect();
    let listed: BTreeSet<&str> = listed.iter().flat_map(|text| first_words(text)).collect();
    let known = tilewright_dialects::all_dialects();
    assert_eq!(listed, known.iter().map(|definition| &*definition.name).collect());
}

#[test]
fn a_description_has_operands_results_attributes_and_rules() {
    let text = operations("tt.atomic_cas");
    for line in [
        "operands    ptr: a scalar or tensor of pointers",
        "results     result: a scalar or tensor of values",
        "attributes  sem: one of `acq_rel`, `acquire`, `relaxed`, `release`",
        "rules       cmp = pointee(ptr)",
        "compiled    yes",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(operations("ttng.tc_gen5_mma").contains("compiled    as neutral operations"));
    assert!(operations("amdg.masked_load").contains("compiled    no: the pointers of LLVM"));
}

#[test]
fn an_unknown_operation_is_answered_with_the_nearest() {
    let failed = run(tilewright().args(["operations", "ttng.tc_gen5_mm"]));
    assert_eq!(failed.code, Some(2));
    let expected = "error: there is no dialect or operation `ttng.tc_gen5_mm`; did you mean `ttng.tc_gen5_mma`?\n";
    assert_eq!(failed.err, expected);
}
