//! Tests of `tilewright explain` for programs without explicit memory: the text as a whole, and the same report as JSON.

use std::path::PathBuf;

use crate::command;

use command::{run, tilewright};
use serde_json::Value;
use tilewright_testkit::golden;

fn explain(target: &str, more: &[&str]) -> String {
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kernels/dot_masked.ttir");
    run(tilewright().arg("explain").arg(program).args(["--target", target]).args(more)).out
}

/// Checks the text of a loop that multiplies masked tiles, on two targets: the cost, the plan of the dot, conversions, the
/// pipelined loop, and the alternatives with their reasons.
#[test]
fn a_plain_program_is_explained() {
    for target in ["a100", "h100"] {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/explained_{target}.txt"));
        let text = explain(target, &[]);
        let (layouts, rest) = text.split_once("  dots\n").expect("the dots");
        let head = layouts.lines().next().unwrap_or_default();
        golden::check(&file, &format!("{head}\n  dots\n{rest}"));
    }
}

/// Checks that JSON has the values of the text.
#[test]
fn json_has_the_values_of_the_text() {
    for target in ["a100", "h100", "mi300x"] {
        let (text, json) = (explain(target, &[]), explain(target, &["--json"]));
        let report: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        let function = &report["functions"][0];
        let list = |name: &str| function[name].as_array().unwrap_or_else(|| panic!("{name}: {json}")).clone();
        let word =
            |value: &Value, name: &str| value[name].as_str().unwrap_or_else(|| panic!("{name}: {json}")).to_owned();
        let (values, dots, loops, alternatives) = (list("values"), list("dots"), list("loops"), list("alternatives"));
        assert!(values.len() > 20 && dots.len() == 1 && loops.len() == 1, "{json}");
        for value in &values {
            let name = format!("{} ", word(value, "value"));
            let mut lines = text.lines().filter(|line| line.trim_start().starts_with(&name));
            assert!(lines.any(|line| line.contains(&word(value, "ty"))), "{value}: {text}");
        }
        let dot = format!("mma {}: {}", word(&dots[0], "value"), word(&dots[0], "instruction"));
        assert!(text.contains(&dot), "{dot}: {text}");
        let heading = format!("{} stages, {} bytes of shared memory", loops[0]["stages"], loops[0]["bytes"]);
        assert!(text.contains(&heading), "{heading}: {text}");
        for load in loops[0]["loads"].as_array().expect("loads") {
            assert!(text.contains(&format!("prefetched: {}", word(load, "by"))), "{load}: {text}");
        }
        assert_eq!(text.matches("not taken: ").count(), alternatives.len(), "{text}");
        let cost = function["cost"].as_f64().expect("a number");
        assert!(text.contains(&format!("{cost:.2} cycles for each warp")), "{cost}: {text}");
    }
}
