//! Tests of reports for machines and for people.

use std::fs;

use super::{Tests, command, stdout};

pub const TESTS: Tests = &[
    ("junit_reports_count_as_the_run_does", junit_reports_count_as_the_run_does),
    ("pages_show_failures_with_their_layouts", pages_show_failures_with_their_layouts),
    ("tables_count_by_target_group_and_level", tables_count_by_target_group_and_level),
    ("the_slowest_cases_are_named", the_slowest_cases_are_named),
];

const CASES: &str =
    "--target toy --timeout 1 deeds/pass deeds/fail deeds/abort deeds/skip deeds/unsupported deeds/hang";

fn junit_reports_count_as_the_run_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.xml");
    assert_eq!(command(&format!("{CASES} --junit {}", file.display())).status.code(), Some(1));
    let text = fs::read_to_string(&file).expect("a report");
    let report = roxmltree::Document::parse(&text).expect("XML");
    let suites: Vec<_> = report.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
    let [suite] = suites[..] else { panic!("one target, one group: {text}") };
    assert_eq!(suite.attribute("name"), Some("toy/deeds"));
    for (what, count) in [("tests", "7"), ("failures", "1"), ("errors", "2"), ("skipped", "2")] {
        assert_eq!(suite.attribute(what), Some(count), "{what}: {text}");
    }
    let failure = report.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert_eq!(failure.attribute("message"), Some("element (1, 2) is lost"));
    assert!(failure.text().unwrap_or_default().contains("rerun: conformance --target toy deeds/fail"), "{text}");
}

fn pages_show_failures_with_their_layouts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.html");
    assert_eq!(command(&format!("{CASES} --html {}", file.display())).status.code(), Some(1));
    let page = fs::read_to_string(&file).expect("a page");
    assert!(page.contains("3 of 7 cases failed"), "{page}");
    assert!(page.contains("element (1, 2) is lost") && page.contains("rerun: conformance --target toy deeds/fail"));
    assert!(page.contains("no 64-bit shuffles") && page.contains("no assembler on this machine"));
    assert!(page.contains("of 8x16</figcaption><svg"), "the layout that failed is drawn");
    assert!(!page.contains("<script src") && !page.contains("<link"), "one file");
}

fn tables_count_by_target_group_and_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.md");
    command(&format!("--target twin {CASES} deeds/quality --table {}", file.display()));
    let text = fs::read_to_string(&file).expect("tables");
    let rows_of = |heading: &str| {
        let section = text.split("### ").find(|section| section.starts_with(heading)).unwrap_or_default();
        section.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows_of("Cases"), ["| `toy` | 8 | 8 |", "| `twin` | 8 | 8 |"]);
    assert_eq!(rows_of("Passed at level `codegen`"), ["| `toy` | 1 | 1 |", "| `twin` | 1 | 1 |"]);
    assert_eq!(rows_of("fail"), ["| `toy` | 1 | 1 |", "| `twin` | 1 | 1 |"]);
    assert!(rows_of("Passed at level `device`").is_empty() && rows_of("flake").is_empty(), "{text}");
}

fn the_slowest_cases_are_named() {
    let text = stdout("--target toy --timeout 1 deeds/hang deeds/pass");
    let after = text.split("slowest:\n").nth(1).expect("it took long");
    assert!(after.contains("toy deeds/hang") && !after.contains("deeds/pass"), "{text}");
    assert!(!stdout("--target toy --timeout 1 deeds/hang --slowest 0").contains("slowest"));
}
