//! The product's own command, with the targets and plugins of this repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_target_has_hundreds_of_cases() {
    let known = text(&conformance(&["--list-targets"]).stdout);
    let output = conformance(&["--target", "all", "--list"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut counts = BTreeMap::new();
    for line in text(&output.stdout).lines() {
        let (target, name) = line.split_once(' ').expect("a target and a case");
        assert!(!name.contains(' '), "{line}");
        *counts.entry(target.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), known.lines().count());
    for (target, count) in counts {
        assert!(count >= 300, "{target} has {count} cases");
    }
}

#[test]
fn every_target_lists_operands_that_its_families_feed() {
    let output = conformance(&["--target", "all", "--list", "layouts/operands"]);
    let listed = text(&output.stdout);
    let known = text(&conformance(&["--list-targets"]).stdout);
    for target in known.lines().filter_map(|line| line.split_whitespace().next()) {
        let of_target = |line: &&str| line.starts_with(&format!("{target} "));
        assert!(listed.lines().any(|line| of_target(&line)), "{target} has none");
    }
}

#[test]
fn instruction_rows_of_every_target_hold() {
    let output = conformance(&["--target", "all", "layouts/instructions"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
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
