//! Runs that the user ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Tests, command, prepared};

pub const TESTS: Tests = &[
    ("an_interrupted_run_tells_what_it_has_and_goes_on", an_interrupted_run_tells_what_it_has_and_goes_on),
    ("an_interrupted_run_keeps_what_nobody_asked_it_to", an_interrupted_run_keeps_what_nobody_asked_it_to),
];

/// `hang` comes after `fail`, in the one worker that there is.
const CASES: &str = "--target toy --jobs 1 --timeout 300 deeds/fail deeds/hang deeds/pass";

/// Begins a run and interrupts it as soon as it has told of the first case. Gives the exit status and what it said.
fn interrupted(arguments: &str, folder: &Path, signal: Signal) -> (Option<i32>, String, String) {
    let mut command = prepared(arguments);
    command.env("TMPDIR", folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("the command starts");
    let mut out = BufReader::new(run.stdout.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("again: ") {
        assert!(out.read_line(&mut said).expect("text") > 0, "it ends too early: {said}");
    }
    let begun = Instant::now();
    send(&run, signal);
    out.read_to_string(&mut said).expect("text");
    let mut errors = String::new();
    run.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    let code = run.wait().expect("it ends").code();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    (code, said, errors)
}

fn send(run: &Child, signal: Signal) {
    let pid = i32::try_from(run.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it runs");
}

/// The line that goes on with a run, as the run says it.
fn resumption(errors: &str) -> &str {
    let line = errors.lines().find_map(|line| line.trim().strip_prefix("conformance "));
    line.unwrap_or_else(|| panic!("no line to go on with: {errors}"))
}

/// Goes on without the case that hangs, and says the outcomes by name.
fn resumed(line: &str, file: &Path) -> BTreeSet<String> {
    let output = command(&format!("{line} --exclude deeds/hang"));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(file).expect("results");
    let events = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    events.filter_map(|event| event["name"].as_str().map(str::to_owned)).collect()
}

fn an_interrupted_run_tells_what_it_has_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let line = format!("{CASES} --results {}", file.display());
    let (code, said, errors) = interrupted(&line, folder.path(), Signal::INT);
    assert_eq!(code, Some(130), "{said}{errors}");
    assert!(said.contains("shown at level: nothing") && said.contains("3 cases were chosen and not run"), "{said}");
    assert_eq!(resumption(&errors), format!("--resume {line}"));
    let names = resumed(resumption(&errors), &file);
    assert_eq!(names, ["deeds/fail", "deeds/pass/emulated", "deeds/pass/layout"].map(str::to_owned).into());
}

fn an_interrupted_run_keeps_what_nobody_asked_it_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, errors) = interrupted(CASES, folder.path(), Signal::TERM);
    assert_eq!(code, Some(130), "{errors}");
    let line = resumption(&errors);
    let file = line.strip_prefix("--results ").and_then(|rest| rest.split(' ').next()).expect("a file");
    assert!(file.starts_with(&folder.path().display().to_string()), "{line}");
    assert_eq!(resumed(line, Path::new(file)).len(), 3);
}
