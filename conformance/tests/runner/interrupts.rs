//! Tests of runs that the user interrupts, and of resuming them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Tests, command, prepared};

pub const TESTS: Tests = &[
    ("an_interrupted_run_prints_its_results_and_can_be_resumed", an_interrupted_run_prints_its_results_and_resumes),
    ("an_interrupted_run_keeps_what_nobody_asked_it_to", an_interrupted_run_keeps_results_without_an_option),
];

/// Arguments of a run with one worker, which runs `hang` after `fail`, so that an interrupt during `hang` finds one
/// result.
const CASES: &str = "--target toy --jobs 1 --timeout 300 deeds/fail deeds/hang deeds/pass";

/// Starts a run and interrupts it after its first report of a case. Returns exit status, standard output and standard
/// error.
fn interrupted(arguments: &str, folder: &Path, signal: Signal) -> (Option<i32>, String, String) {
    let mut command = prepared(arguments);
    command.env("TMPDIR", folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("the command starts");
    let mut out = BufReader::new(run.stdout.take().expect("a pipe"));
    let mut printed = String::new();
    while !printed.contains("rerun: ") {
        assert!(out.read_line(&mut printed).expect("text") > 0, "it ends too early: {printed}");
    }
    let start = Instant::now();
    send(&run, signal);
    out.read_to_string(&mut printed).expect("text");
    let mut errors = String::new();
    run.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    let code = run.wait().expect("it ends").code();
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    (code, printed, errors)
}

fn send(run: &Child, signal: Signal) {
    let pid = i32::try_from(run.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it runs");
}

/// Returns the command line that resumes a run, read from the messages of the interrupted run.
fn resumption(errors: &str) -> &str {
    let line = errors.lines().find_map(|line| line.trim().strip_prefix("conformance "));
    line.unwrap_or_else(|| panic!("no line to go on with: {errors}"))
}

/// Resumes a run without the case that hangs. Returns the names of the cases with results in `file`.
fn resumed(line: &str, file: &Path) -> BTreeSet<String> {
    let output = command(&format!("{line} --exclude deeds/hang"));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(file).expect("results");
    let events = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    events.filter_map(|event| event["name"].as_str().map(str::to_owned)).collect()
}

fn an_interrupted_run_prints_its_results_and_resumes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let line = format!("{CASES} --results {}", file.display());
    let (code, printed, errors) = interrupted(&line, folder.path(), Signal::INT);
    assert_eq!(code, Some(130), "{printed}{errors}");
    assert!(
        printed.contains("shown at level: nothing") && printed.contains("3 cases were chosen and not run"),
        "{printed}"
    );
    assert_eq!(resumption(&errors), format!("--resume {line}"));
    let names = resumed(resumption(&errors), &file);
    assert_eq!(names, ["deeds/fail", "deeds/pass/emulated", "deeds/pass/layout"].map(str::to_owned).into());
}

fn an_interrupted_run_keeps_results_without_an_option() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, errors) = interrupted(CASES, folder.path(), Signal::TERM);
    assert_eq!(code, Some(130), "{errors}");
    let line = resumption(&errors);
    let file = line.strip_prefix("--results ").and_then(|rest| rest.split(' ').next()).expect("a file");
    assert!(file.starts_with(&folder.path().display().to_string()), "{line}");
    assert_eq!(resumed(line, Path::new(file)).len(), 3);
}
