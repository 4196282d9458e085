//! Tests of `claim`, which decides whether results support a level of conformance.

use std::fs;

use serde_json::Value;

use super::{Tests, command};

pub const TESTS: Tests = &[
    ("a_level_is_claimed_by_all_its_cases", a_level_is_claimed_by_all_its_cases),
    ("a_mandatory_case_that_was_not_run_stands_against_it", a_mandatory_case_that_was_not_run_stands_against_it),
    ("a_failure_stands_against_it", a_failure_stands_against_it),
    ("a_level_without_cases_cannot_be_claimed", a_level_without_cases_cannot_be_claimed),
];

/// Runs `claim` on the results of a run after `change` has modified their text. Returns exit status and report.
fn claim(cases: &str, change: impl Fn(String) -> String, level: &str) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    command(&format!("--target toy {cases} --results {}", file.display()));
    fs::write(&file, change(fs::read_to_string(&file).expect("results"))).expect("changed results");
    let line = format!("claim {} --target toy --level {level} --message-format json", file.display());
    let output = command(&line);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), report)
}

const MANDATORY: &str = "deeds/many deeds/pass deeds/quality deeds/unsupported";

fn a_level_is_claimed_by_all_its_cases() {
    let (code, report) = claim(MANDATORY, |text| text, "emulated");
    assert_eq!((code, &report["holds"]), (Some(0), &true.into()), "{report}");
    assert_eq!(report["levels"]["layout"], serde_json::json!({"mandatory": 22, "right": 21, "unsupported": 1}));
    assert_eq!(report["levels"]["codegen"]["right"], 1);
    assert_eq!(report["levels"]["emulated"]["right"], 1);
    assert_eq!(report["unsupported"]["no 64-bit shuffles"], 1);
}

fn a_mandatory_case_that_was_not_run_stands_against_it() {
    let (code, report) = claim("deeds/many deeds/pass deeds/unsupported", |text| text, "codegen");
    assert_eq!((code, &report["holds"]), (Some(1), &false.into()));
    assert_eq!(report["against"]["deeds/quality"], "not run");
    let (code, _) = claim("deeds/many deeds/pass deeds/unsupported", |text| text, "layout");
    assert_eq!(code, Some(0), "the level before it does not need the case");
}

fn a_failure_stands_against_it() {
    let spoil = |text: String| {
        let spoilt = |line: &str| match line.contains("deeds/many/07") {
            true => line.replace(r#""status":"pass""#, r#""status":"fail""#),
            false => line.to_owned(),
        };
        text.lines().map(spoilt).collect::<Vec<_>>().join("\n") + "\n"
    };
    let (code, report) = claim(MANDATORY, spoil, "layout");
    assert_eq!((code, &report["holds"]), (Some(1), &false.into()));
    assert!(report["against"]["deeds/many/07"].as_str().is_some_and(|why| why.starts_with("fail")), "{report}");
    let weaken = |text: String| text.replace(r#""level":"emulated""#, r#""level":"layout""#);
    let (code, report) = claim(MANDATORY, weaken, "emulated");
    assert_eq!(code, Some(1));
    assert_eq!(report["against"]["deeds/pass/emulated"], "pass, but at layout level instead of emulated");
}

fn a_level_without_cases_cannot_be_claimed() {
    let (code, report) = claim(MANDATORY, |text| text, "device");
    assert_eq!((code, &report["holds"]), (Some(1), &false.into()));
}
