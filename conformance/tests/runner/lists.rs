//! Tests of lists of known deviations, and of flaky cases.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::invented::FLAKY_VARIABLE;
use super::{Tests, command, prepared};

pub const TESTS: Tests = &[
    ("what_fails_as_expected_does_not_fail_the_run", what_fails_as_expected_does_not_fail_the_run),
    ("a_failure_other_than_the_listed_one_fails_the_run", a_failure_other_than_the_listed_one_fails_the_run),
    ("what_is_listed_and_passes_fails_the_run", what_is_listed_and_passes_fails_the_run),
    ("what_is_unsupported_and_not_listed_fails_the_run", what_is_unsupported_and_not_listed_fails_the_run),
    ("blessed_lists_are_those_of_the_run", blessed_lists_are_those_of_the_run),
    ("wrong_lists_are_refused", wrong_lists_are_refused),
    ("a_case_that_passes_the_second_time_is_a_flake", a_case_that_passes_the_second_time_is_a_flake),
    ("a_flake_that_is_on_no_list_fails_the_run", a_flake_that_is_on_no_list_fails_the_run),
    ("what_always_fails_is_no_flake", what_always_fails_is_no_flake),
];

/// Runs cases of the target `toy` with lists of known deviations.
fn with(lists: &str, arguments: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.toml");
    fs::write(&file, lists).expect("lists");
    command(&format!("--target toy {arguments} --baseline {} --message-format json", file.display()))
}

fn case(output: &Output, name: &str) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.into_iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("no {name} in {text}"))
}

fn what_fails_as_expected_does_not_fail_the_run() {
    let lists =
        "[[expected-failure]]\ntarget = 't*'\nreason = 'issue 12'\nmessage = 'is lost'\ncases = ['deeds/fail']\n";
    let output = with(lists, "deeds/fail deeds/pass");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let case = case(&output, "deeds/fail");
    assert_eq!(case["status"], "xfail");
    assert_eq!(case["detail"], "issue 12: fail: element (1, 2) is lost");
    let of_another = lists.replace("t*", "mi*");
    assert_eq!(with(&of_another, "deeds/fail").status.code(), Some(1), "the list is about another target");
}

fn a_failure_other_than_the_listed_one_fails_the_run() {
    let lists = "[[expected-failure]]\ntarget = 'toy'\nreason = 'x'\nmessage = 'is doubled'\ncases = ['deeds/fail']\n";
    let output = with(lists, "deeds/fail");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(case(&output, "deeds/fail")["status"], "fail");
}

fn what_is_listed_and_passes_fails_the_run() {
    for list in ["expected-failure", "unsupported"] {
        let lists = format!("[[{list}]]\ntarget = 'toy'\nreason = 'was once'\ncases = ['deeds/pass/layout']\n");
        let output = with(&lists, "deeds/pass");
        assert_eq!(output.status.code(), Some(1), "{list}");
        assert_eq!(case(&output, "deeds/pass/layout")["status"], "xpass");
        assert_eq!(case(&output, "deeds/pass/emulated")["status"], "pass");
    }
}

fn what_is_unsupported_and_not_listed_fails_the_run() {
    let output = with("", "deeds/unsupported");
    assert_eq!(output.status.code(), Some(1));
    let detail = case(&output, "deeds/unsupported")["detail"].as_str().unwrap_or_default().to_owned();
    assert_eq!(detail, "unsupported, and on no list: no 64-bit shuffles");
    let lists = "[[unsupported]]\ntarget = 'toy'\nreason = 'narrow lanes'\ncases = ['deeds/uns*']\n";
    let output = with(lists, "deeds/unsupported");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(case(&output, "deeds/unsupported")["status"], "unsupported");
}

fn blessed_lists_are_those_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.toml");
    let run = |globs: &str, more: &str| {
        command(&format!("--target toy {globs} --baseline {} {more}", file.display())).status.code()
    };
    let cases = "deeds/fail deeds/abort deeds/unsupported deeds/pass";
    assert_eq!(run(cases, ""), Some(2), "there are no lists yet");
    assert_eq!(run(cases, "--bless"), Some(0));
    assert_eq!(run(cases, ""), Some(0));
    let text = fs::read_to_string(&file).expect("lists");
    assert!(text.contains("reason = \"no 64-bit shuffles\"") && text.contains("\"deeds/abort\""), "{text}");
    assert!(!text.contains("deeds/pass"), "{text}");

    // A stale entry is removed; an entry that matches no case of the run stays.
    let stale = "[[expected-failure]]\ntarget = 'toy'\nreason = 'old'\ncases = ['deeds/pass']\n\n\
                 [[expected-failure]]\ntarget = 'mi250'\nreason = 'elsewhere'\ncases = ['deeds']\n";
    fs::write(&file, stale).expect("lists");
    assert_eq!(run(cases, "--bless"), Some(0));
    let text = fs::read_to_string(&file).expect("lists");
    assert!(!text.contains("old") && text.contains("elsewhere") && text.contains("deeds/fail"), "{text}");
    assert_eq!(run(cases, ""), Some(0));
}

fn wrong_lists_are_refused() {
    let wrong = [
        ("[[expected-failure]]\ntarget = 'toy'\ncases = ['deeds']\n", "reason"),
        ("[[expected-failure]]\ntarget = 'toy'\nreason = ''\ncases = ['deeds']\n", "needs a reason"),
        ("[[unsupported]]\ntarget = 'toy'\nreason = 'x'\ncases = ['deeds/[']\n", "deeds/["),
        ("[[unsupported]]\ntarget = 'toy'\nreason = 'x'\nmessage = 'y'\ncases = ['deeds']\n", "message"),
        ("[[flaky]]\ntarget = 'toy'\nreason = 'x'\ncases = ['deeds']\n", "flaky"),
        ("unsupported = 3", "unsupported"),
    ];
    for (lists, message) in wrong {
        let output = with(lists, "deeds/pass");
        assert_eq!(output.status.code(), Some(2), "{lists}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("toy.toml") && errors.contains(message), "{errors}");
    }
}

/// Runs the flaky case, which creates `file` and fails if the file does not exist, and passes otherwise.
fn flaky(file: &Path, arguments: &str) -> Output {
    let mut command = prepared(&format!("--target toy deeds/flaky --message-format json {arguments}"));
    command.env(FLAKY_VARIABLE, file).output().expect("the command starts")
}

fn a_case_that_passes_the_second_time_is_a_flake() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(flaky(&folder.path().join("1"), "").status.code(), Some(1), "without retries it is a failure");
    let output = flaky(&folder.path().join("2"), "--retries 2");
    assert_eq!(output.status.code(), Some(0));
    let case = case(&output, "deeds/flaky");
    assert_eq!((&case["status"], &case["level"]), (&"flake".into(), &Value::Null));
    assert_eq!(case["detail"], "fail once, then pass; at first: the first time is hard");
}

fn a_flake_that_is_on_no_list_fails_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let lists = folder.path().join("toy.toml");
    let arguments = format!("--retries 1 --baseline {}", lists.display());
    fs::write(&lists, "").expect("lists");
    assert_eq!(flaky(&folder.path().join("1"), &arguments).status.code(), Some(1));
    fs::write(&lists, "[[flake]]\ntarget = 'toy'\nreason = 'shy'\ncases = ['deeds/flaky']\n").expect("lists");
    assert_eq!(flaky(&folder.path().join("2"), &arguments).status.code(), Some(0));
    assert_eq!(flaky(&folder.path().join("2"), &arguments).status.code(), Some(0), "and when it passes at once");
}

fn what_always_fails_is_no_flake() {
    let output = command("--target toy deeds/fail deeds/abort --retries 3 --message-format json");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(case(&output, "deeds/fail")["status"], "fail");
    assert_eq!(case(&output, "deeds/abort")["status"], "crash");
}
