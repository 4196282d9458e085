//! Tests of the suite's runner with cases that pass, fail, panic, abort and hang.
//!
//! If its first argument is `command`, this test executable is a conformance program for invented targets; otherwise it
//! runs the tests, which start it again as that program.

mod choosing;
mod claims;
mod interrupts;
mod invented;
mod lists;
mod progress;
mod reports;
mod results;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};

use conformance::{CaseGroup, MandatoryCases, Suite};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

use invented::{Deeds, Inventions};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    if arguments.next().is_some_and(|first| first == "command") {
        let groups: Vec<Box<dyn CaseGroup>> = vec![Box::new(Deeds)];
        let mandatory = MandatoryCases::from_toml(include_str!("mandatory.toml")).expect("the invented list is right");
        let prefix = vec!["command".into()];
        let command = Suite { targets: Box::new(Inventions::open), groups, mandatory, prefix };
        return command.run([program].into_iter().chain(arguments)).into();
    }
    let own: [(&str, fn()); 19] = [
        ("every_deed_has_its_status", every_deed_has_its_status),
        ("a_broken_case_costs_only_itself", a_broken_case_costs_only_itself),
        ("details_say_how_a_process_exited", details_say_how_a_process_exited),
        ("a_case_that_breaks_only_in_company_names_it", a_case_that_breaks_only_in_company_names_it),
        ("what_a_case_started_ends_with_it", what_a_case_started_ends_with_it),
        ("a_hang_takes_one_timeout", a_hang_takes_one_timeout),
        ("passes_exit_with_0", passes_exit_with_0),
        (
            "quality_unsupported_and_skip_exit_with_0_and_are_shown",
            quality_unsupported_and_skip_exit_with_0_and_are_shown,
        ),
        ("failures_exit_with_1", failures_exit_with_1),
        ("a_wrong_command_line_exits_with_2", a_wrong_command_line_exits_with_2),
        ("a_broken_harness_exits_with_3", a_broken_harness_exits_with_3),
        ("the_list_is_sorted_and_stable", the_list_is_sorted_and_stable),
        ("globs_choose_cases", globs_choose_cases),
        ("json_lines_report_every_case", json_lines_report_every_case),
        ("a_repro_line_repeats_the_failure", a_repro_line_repeats_the_failure),
        ("thorough_runs_show_everything", thorough_runs_show_everything),
        ("each_target_has_its_own_summary", each_target_has_its_own_summary),
        ("jobs_do_not_change_outcomes", jobs_do_not_change_outcomes),
        ("no_colour_without_a_terminal", no_colour_without_a_terminal),
    ];
    let libtest = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let others = [
        choosing::TESTS,
        claims::TESTS,
        interrupts::TESTS,
        lists::TESTS,
        progress::TESTS,
        reports::TESTS,
        results::TESTS,
    ];
    let tests = own.iter().chain(others.into_iter().flatten()).map(|&(name, test)| libtest((name, test)));
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

/// The tests of a file, by name.
type Tests = &'static [(&'static str, fn())];

/// Returns this executable as the conformance program, with the words of `line` as arguments.
fn prepared(line: &str) -> Command {
    let program = std::env::current_exe().expect("tests have a program");
    let mut command = Command::new(program);
    command.arg("command").args(line.split_whitespace());
    command
}

/// Runs this executable as the conformance program, with the words of `line` as arguments.
fn command(line: &str) -> Output {
    prepared(line).output().expect("the command starts")
}

fn code(line: &str) -> i32 {
    command(line).status.code().expect("the command is not killed")
}

fn stdout(line: &str) -> String {
    String::from_utf8(command(line).stdout).expect("output is text")
}

fn events(line: &str) -> Vec<Value> {
    let text = stdout(&format!("{line} --message-format json"));
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// Runs the conformance program. Returns its JSON lines about cases, by case name.
fn cases(line: &str) -> BTreeMap<String, Value> {
    let cases = events(line).into_iter().filter(|event| event["event"] == "case");
    let mut by_name = BTreeMap::new();
    for event in cases {
        let name = event["name"].as_str().expect("a case has a name").to_owned();
        assert!(by_name.insert(name, event).is_none(), "each case has one outcome");
    }
    by_name
}

/// Arguments that run all cases of `toy` with one worker at a time.
const ALL: &str = "--target toy --jobs 1 --timeout 1.5";

fn every_deed_has_its_status() {
    let statuses: BTreeMap<_, _> = cases(ALL)
        .into_iter()
        .map(|(name, event)| (name, event["status"].as_str().unwrap_or("?").to_owned()))
        .collect();
    let expected = [
        ("deeds/abort", "crash"),
        ("deeds/company/1-spoils", "pass"),
        ("deeds/company/2-between", "pass"),
        ("deeds/company/3-suffers", "crash"),
        ("deeds/exit", "crash"),
        ("deeds/fail", "fail"),
        ("deeds/flaky", "pass"),
        ("deeds/hang", "timeout"),
        ("deeds/noise", "pass"),
        ("deeds/orphan", "crash"),
        ("deeds/overflow", "crash"),
        ("deeds/panic", "crash"),
        ("deeds/pass/emulated", "pass"),
        ("deeds/pass/layout", "pass"),
        ("deeds/quality", "quality"),
        ("deeds/skip", "skip"),
        ("deeds/tensors/0", "pass"),
        ("deeds/unsupported", "unsupported"),
    ];
    for (name, status) in expected {
        assert_eq!(statuses.get(name).map(String::as_str), Some(status), "{name}");
    }
    assert_eq!(statuses.len(), expected.len() + 20);
}

fn a_broken_case_costs_only_itself() {
    let cases = cases(&format!("{ALL} deeds/abort deeds/exit deeds/many deeds/orphan deeds/overflow"));
    let many: Vec<_> = cases.iter().filter(|(name, _)| name.starts_with("deeds/many/")).collect();
    assert_eq!(many.len(), 20);
    for (name, event) in many {
        assert_eq!(event["status"], "pass", "{name}");
        assert_eq!(event["level"], "layout", "{name}");
    }
    let crashed = cases.values().filter(|event| event["status"] == "crash").count();
    assert_eq!(crashed, 4);
}

fn details_say_how_a_process_exited() {
    let cases = cases(&format!("{ALL} deeds/abort deeds/exit deeds/fail deeds/hang deeds/overflow deeds/panic"));
    let detail = |name: &str| cases[name]["detail"].as_str().unwrap_or_default();
    assert!(detail("deeds/abort").contains("SIGABRT"), "{}", detail("deeds/abort"));
    assert!(detail("deeds/exit").contains("exit status: 0"), "{}", detail("deeds/exit"));
    assert_eq!(detail("deeds/fail"), "element (1, 2) is lost");
    assert!(detail("deeds/hang").contains("1.5s"), "{}", detail("deeds/hang"));
    assert!(detail("deeds/overflow").contains("overflowed its stack"), "{}", detail("deeds/overflow"));
    let panic = detail("deeds/panic");
    assert!(panic.contains("invented.rs") && panic.contains("index 7 of 4"), "{panic}");
}

fn a_case_that_breaks_only_in_company_names_it() {
    // Few cases make small batches: with these globs and one job, all three cases share a worker.
    let cases = cases(&format!("{ALL} deeds/many deeds/company"));
    let suffers = &cases["deeds/company/3-suffers"];
    assert_eq!(suffers["status"], "crash");
    let detail = suffers["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("after `deeds/company/1-spoils`"), "{detail}");
    assert!(detail.contains("alone its status is pass"), "{detail}");
}

fn what_a_case_started_ends_with_it() {
    let cases = cases(&format!("{ALL} deeds/orphan"));
    let detail = cases["deeds/orphan"]["detail"].as_str().unwrap_or_default();
    let pid = detail.split("started ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("it says");
    // An ended process may remain a zombie until it is reaped, which may take a moment.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) && !matches!(state_of(pid).as_str(), "gone" | "Z" | "X") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let state = state_of(pid);
    assert!(matches!(state.as_str(), "gone" | "Z" | "X"), "process {pid} is in state {state}");
}

/// Returns the state of a process as the operating system reports it.
fn state_of(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.unwrap_or("gone").to_owned()
}

fn a_hang_takes_one_timeout() {
    let start = Instant::now();
    let cases = cases("--target toy --jobs 1 --timeout 1 deeds/hang deeds/pass");
    assert_eq!(cases["deeds/hang"]["status"], "timeout");
    assert_eq!(cases["deeds/pass/layout"]["status"], "pass");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

fn passes_exit_with_0() {
    assert_eq!(code("--target toy deeds/pass deeds/noise"), 0);
    assert_eq!(code("--help"), 0);
    assert_eq!(code("--list-targets"), 0);
}

fn quality_unsupported_and_skip_exit_with_0_and_are_shown() {
    let output = command("--target toy deeds/quality deeds/unsupported deeds/skip");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("unsupported (1): no 64-bit shuffles"), "{text}");
    assert!(text.contains("skip (1): no assembler on this machine"), "{text}");
    assert!(text.contains("shown at level: 1 codegen\n"), "neither is counted as shown: {text}");
}

fn failures_exit_with_1() {
    for glob in ["deeds/fail", "deeds/panic", "deeds/abort", "deeds/exit", "deeds/hang"] {
        assert_eq!(code(&format!("--target toy --timeout 1 deeds/pass {glob}")), 1, "{glob}");
    }
}

fn a_wrong_command_line_exits_with_2() {
    let wrong = [
        ("", "which target?"),
        ("--target tyo", "unknown target `tyo` (did you mean `toy`?); known are absent, mortal, toy, twin"),
        ("--target toy deeds/no-such-case", "no case matches `deeds/no-such-case`"),
        ("--target toy deeds/compnay/1-spoils", "did you mean `deeds/company`?"),
        ("--target toy *layuot*", "did you mean `layout`?"),
        ("--target toy deeds/pass deeds/typo*", "no case matches `deeds/typo*`"),
        ("--target toy deeds/[", "`deeds/[` is not a glob"),
        ("--target toy --jobs 0", "--jobs"),
        ("--target toy --timeout soon", "--timeout"),
        ("--target toy --plugin /no/such/file.so", "/no/such/file.so"),
        ("--frobnicate", "--frobnicate"),
    ];
    for (line, message) in wrong {
        let output = command(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(message), "`{line}` says {errors}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

fn a_broken_harness_exits_with_3() {
    let absent = command("--target absent");
    assert_eq!(absent.status.code(), Some(3));
    let errors = String::from_utf8_lossy(&absent.stderr);
    assert!(errors.contains("target `absent` cannot be opened: its plugin is missing"), "{errors}");
    let mortal = command("--target mortal --target toy deeds/pass");
    assert_eq!(mortal.status.code(), Some(3));
    let text = String::from_utf8_lossy(&mortal.stdout);
    assert!(text.contains("goodbye from mortal"), "{text}");
    assert!(text.contains("2 cases were chosen and not run"), "{text}");
    assert!(text.contains("shown at level: 1 layout, 1 emulated"), "the other target is tested: {text}");
}

fn the_list_is_sorted_and_stable() {
    let first = stdout("--target toy --list");
    let names: Vec<_> = first.lines().collect();
    assert_eq!(names.len(), 38);
    assert!(names.is_sorted());
    assert_eq!(first, stdout("--target toy --list"));
    let both = stdout("--target twin --target toy --list deeds/fail");
    assert_eq!(both, "toy deeds/fail\ntwin deeds/fail\n");
}

fn globs_choose_cases() {
    let list = |globs: &str| stdout(&format!("--target toy --list {globs}"));
    assert_eq!(list("deeds/pass/layout"), "deeds/pass/layout\n");
    assert_eq!(list("deeds/pass"), "deeds/pass/emulated\ndeeds/pass/layout\n");
    assert_eq!(list("deeds/pass/"), list("deeds/pass"));
    assert_eq!(list("*/many/*7"), "deeds/many/07\ndeeds/many/17\n");
    assert_eq!(list("*7"), list("*/many/*7"));
    assert_eq!(list("deeds/many/0? deeds/many/{01,19}").lines().count(), 11);
    assert_eq!(list("deeds").lines().count(), 38);
}

fn json_lines_report_every_case() {
    let events = events("--target toy --timeout 1.5 deeds/pass deeds/fail deeds/abort deeds/skip");
    let of_kind = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    assert_eq!(of_kind("case").len(), 5);
    for case in of_kind("case") {
        assert_eq!(case["target"], "toy");
        assert!(case["duration_us"].is_u64());
        let failed = matches!(case["status"].as_str(), Some("fail" | "crash"));
        assert_eq!(case.get("repro").is_some(), failed, "{case}");
    }
    let [summary] = of_kind("summary")[..] else { panic!("one target, one summary") };
    assert_eq!((&summary["chosen"], &summary["not_run"]), (&5.into(), &0.into()));
    let statuses = &summary["statuses"];
    for (status, count) in [("pass", 2), ("fail", 1), ("crash", 1), ("skip", 1), ("timeout", 0), ("unsupported", 0)] {
        assert_eq!(statuses[status], count, "{status}");
    }
    assert_eq!(summary["levels"], serde_json::json!({"layout": 1, "emulated": 1}));
    assert_eq!(events.last().map(|event| event["exit"].clone()), Some(1.into()));
}

fn a_repro_line_repeats_the_failure() {
    let text = stdout("--target toy deeds/fail deeds/pass");
    let repro = text.lines().find_map(|line| line.trim().strip_prefix("rerun: conformance ")).expect("a repro line");
    assert_eq!(repro, "--target toy deeds/fail");
    assert_eq!(code(repro), 1);
}

fn thorough_runs_show_everything() {
    assert_eq!(stdout("--target toy --list deeds/tensors"), "deeds/tensors/0\n");
    assert_eq!(code("--target toy deeds/tensors"), 0);
    assert_eq!(stdout("--target toy --thorough --list deeds/tensors").lines().count(), 4);
    let text = stdout("--target toy --thorough deeds/tensors");
    let repro = text.lines().find_map(|line| line.trim().strip_prefix("rerun: conformance ")).expect("a repro line");
    assert_eq!(repro, "--target toy --thorough deeds/tensors/3");
    assert_eq!(code(repro), 1);
}

fn each_target_has_its_own_summary() {
    let events = events("--target toy --target twin deeds/pass/layout");
    let summaries: Vec<_> = events.iter().filter(|event| event["event"] == "summary").collect();
    assert_eq!(summaries.len(), 2);
    for (summary, name) in summaries.iter().zip(["toy", "twin"]) {
        assert_eq!(summary["target"], name);
        assert_eq!(summary["statuses"]["pass"], 1);
    }
}

fn jobs_do_not_change_outcomes() {
    let outcomes = |jobs: u32| {
        let cases =
            cases(&format!("--target toy --timeout 1.5 --jobs {jobs} deeds/many deeds/abort deeds/p* deeds/hang"));
        cases.into_iter().map(|(name, event)| (name, event["status"].clone())).collect::<Vec<_>>()
    };
    let alone = outcomes(1);
    assert_eq!(alone.len(), 25);
    assert_eq!(alone, outcomes(5));
}

fn no_colour_without_a_terminal() {
    let output = command("--target toy deeds/fail deeds/pass");
    for stream in [&output.stdout, &output.stderr] {
        assert!(!stream.contains(&0x1b), "{}", String::from_utf8_lossy(stream));
    }
}
