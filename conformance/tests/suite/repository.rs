//! Tests of this package's command with the targets and plugins of this repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tilewright_testkit::known_answers::Answers;
use tilewright_testkit::shared_data;

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_target_has_thousands_of_cases() {
    let known = text(&conformance(&["--list-targets"]).stdout);
    let output = conformance(&["--target", "all", "--list"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut counts = BTreeMap::new();
    for line in text(&output.stdout).lines() {
        let (target, name) = line.split_once(' ').expect("a target and a case");
        assert!(!name.contains(' '), "{line}");
        let group = name.split('/').next().unwrap_or_default();
        *counts.entry(target.to_owned()).or_insert_with(BTreeMap::new).entry(group.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), known.lines().count());
    for (target, groups) in counts {
        assert!(groups.values().sum::<u32>() >= 4000, "{target}: {groups:?}");
        for (group, least) in [("conversions", 900), ("memory", 800), ("reduce", 400), ("scan", 400), ("gather", 250)] {
            assert!(groups.get(group).is_some_and(|&count| count >= least), "{target}: {groups:?}");
        }
    }
}

/// A smoke run covers every instruction and layout family of its target, and some cases of every group.
#[test]
fn smoke_runs_show_every_instruction_and_family() {
    let listed = |arguments: &[&str]| {
        let output = conformance(&[&["--target", "mi250", "--list"], arguments].concat());
        text(&output.stdout).lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (all, smoke) = (listed(&[]), listed(&["--smoke"]));
    for name in
        all.iter().filter(|name| name.starts_with("instructions/meaning/") || name.starts_with("families/shown/"))
    {
        assert!(smoke.contains(name), "{name} is left out");
    }
    let groups = |names: &BTreeSet<String>| {
        names.iter().filter_map(|name| name.split('/').next().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    assert_eq!(groups(&smoke), groups(&all));
    assert!(smoke.len() * 5 < all.len(), "{} of {}", smoke.len(), all.len());
}

/// Data movement between layouts of each plugin's families passes: executed operations equal the plan.
#[test]
fn data_movement_through_vendor_layouts_passes() {
    let targets = ["--target", "h100", "--target", "mi250", "--target", "max1550"];
    let cases = ["memory/*/16x16/w2", "reduce/*/16x16/w2", "scan/*/16x16/w2", "gather/*/16x16/w2"];
    let output = conformance(&[&targets[..], &cases].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn every_target_lists_the_operands_of_its_families() {
    let output = conformance(&["--target", "all", "--list", "layouts/operands"]);
    let listed = text(&output.stdout);
    let known = text(&conformance(&["--list-targets"]).stdout);
    for target in known.lines().filter_map(|line| line.split_whitespace().next()) {
        let of_target = |line: &&str| line.starts_with(&format!("{target} "));
        assert!(listed.lines().any(|line| of_target(&line)), "{target} has none");
    }
}

#[test]
fn instruction_rows_of_every_target_pass() {
    let output = conformance(&["--target", "all", "layouts/instructions"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// All known answers are right, on one target of each plugin: each combination of families is checked on the plugin
/// that serves it.
#[test]
fn known_answers_are_right_of_every_plugin() {
    check_known_answers_are_right_of_every_plugin(Answers::Sample);
}

pub fn check_known_answers_are_right_of_every_plugin(known: Answers) {
    let folder = shared_data::path("");
    let mut arguments =
        vec!["--target", "h100", "--target", "mi250", "--target", "max1550", "--message-format", "json"];
    if known == Answers::All {
        arguments.extend(["--answers", folder.to_str().expect("a path of text")]);
    }
    arguments.push("*/answers");
    let output = conformance(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let stdout = text(&output.stdout);
    let cases = stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let cases: Vec<_> = cases.filter(|event| event["event"] == "case").collect();
    let passed = |name: &str| cases.iter().any(|case| case["name"] == name && case["status"] == "pass");
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        assert!(passed(name), "no plugin serves {name}");
    }
    // Groups whose answers come from the plugins, not from the suite.
    for name in ["families/answers/dot_operand-of-amd_mfma", "families/answers/nvmma_shared"] {
        assert!(passed(name), "{name}");
    }
    let count = |case: &Value| -> usize {
        let detail = case["detail"].as_str().unwrap_or_default();
        detail.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
    };
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        let rows = most.entry(case["name"].as_str().expect("a name")).or_default();
        *rows = count(case).max(*rows);
    }
    let rows: usize = most.values().sum();
    assert!(rows > if known == Answers::All { 7500 } else { 700 }, "{rows} rows");
}

/// Complete programs are compiled, run, and compared with their expected buffers, on a target of each plugin.
#[test]
fn programs_do_what_they_must_on_every_plugin() {
    let targets = ["--target", "h100", "--target", "a100", "--target", "mi300x", "--target", "max1550"];
    let output = conformance(&[&targets[..], &["--message-format", "json", "kernels"]].concat());
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}{}", text(&output.stderr));
    let cases = stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let cases: Vec<_> = cases.filter(|event| event["event"] == "case").collect();
    assert!(cases.len() >= 100, "{}", cases.len());
    // If a warp has 16 lanes, a lane has too few registers for the accumulators of attention over 128 rows.
    let is_too_large = |case: &Value| {
        let detail = case["detail"].as_str().unwrap_or_default();
        case["status"] == "unsupported" && case["target"] == "max1550" && detail.contains("registers of 128")
    };
    let others: Vec<_> = cases.iter().filter(|case| case["status"] != "pass" && !is_too_large(case)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Every plugin rejects invalid requests for a layout of a family.
#[test]
fn nonsense_is_refused_by_every_plugin() {
    let targets = ["--target", "h100", "--target", "mi250", "--target", "max1550"];
    let output = conformance(&[&targets[..], &["families/refusals"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn answers_that_cannot_be_read_are_one_clear_message() {
    let output = conformance(&["--target", "h100", "--list", "--answers", "/nowhere/answers.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.starts_with("error: known answers /nowhere/answers.jsonl") && message.lines().count() == 1);
}

#[test]
fn an_unknown_target_is_one_clear_message() {
    let output = conformance(&["--target", "nosuch"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: unknown target `nosuch`; known are ") && message.lines().count() == 1,
        "{message}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_that_is_no_plugin_is_named() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let file = file.to_str().expect("a path of text");
    let output = conformance(&["--target", "all", "--list", "--plugin", file]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains(file) && !message.contains("panicked"), "{message}");
}
