//! Tests of results files that are kept, resumed and merged.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Tests, command, prepared};

pub const TESTS: Tests = &[
    ("results_are_kept_with_their_environment", results_are_kept_with_their_environment),
    ("results_are_not_written_over", results_are_not_written_over),
    ("a_killed_run_loses_nothing_and_resumes", a_killed_run_loses_nothing_and_resumes),
    ("a_run_of_another_seed_is_not_resumed", a_run_of_another_seed_is_not_resumed),
    ("merged_shards_are_the_full_run", merged_shards_are_the_full_run),
    ("merging_lists_cases_that_were_not_run", merging_lists_cases_that_were_not_run),
    ("what_is_no_result_is_refused_at_its_line", what_is_no_result_is_refused_at_its_line),
];

fn events(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("results");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn names(file: &Path) -> Vec<String> {
    let cases = events(file).into_iter().filter(|event| event["event"] == "case");
    cases.map(|event| event["name"].as_str().expect("a name").to_owned()).collect()
}

fn results_are_kept_with_their_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let output = command(&format!("--target toy deeds/pass deeds/fail --results {}", file.display()));
    assert_eq!(output.status.code(), Some(1));
    let events = events(&file);
    let begin = &events[0];
    assert_eq!(begin["event"], "begin");
    assert_eq!(begin["chosen"], serde_json::json!({"toy": 3}));
    let environment = &begin["environment"];
    assert_eq!(environment["suite"], env!("CARGO_PKG_VERSION"));
    assert_eq!(environment["host"]["architecture"], std::env::consts::ARCH);
    assert_eq!(environment["targets"][0]["name"], "toy");
    assert!(environment["started"].as_u64().is_some_and(|started| started > 1_700_000_000), "{environment}");
    assert_eq!(names(&file).len(), 3);
    assert_eq!(events.last().map(|event| event["exit"].clone()), Some(1.into()));
}

fn results_are_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let line = format!("--target toy deeds/pass --results {}", file.display());
    assert_eq!(command(&line).status.code(), Some(0));
    let before = fs::read(&file).expect("results");
    let second = command(&line);
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("--resume"));
    assert_eq!(fs::read(&file).expect("results"), before);
}

/// If the runner is killed while a case hangs, the cases that had ended are in the file, are not run again, and count.
fn a_killed_run_loses_nothing_and_resumes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let line =
        format!("--target toy --jobs 1 --timeout 300 deeds/fail deeds/hang deeds/pass --results {}", file.display());
    let mut run = prepared(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    let start = Instant::now();
    // Each case is a batch of its own; `hang` runs after `fail`.
    while !fs::read_to_string(&file).is_ok_and(|text| text.contains("deeds/fail")) {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().expect("it is killed");
    run.wait().expect("it ends");
    assert_eq!(names(&file), ["deeds/fail"]);

    // A truncated line belongs to a case without a result.
    let torn = fs::read_to_string(&file).expect("results") + r#"{"event":"case","target":"toy","na"#;
    fs::write(&file, torn).expect("a torn line");
    let line = format!("--target toy --resume deeds/fail deeds/pass --results {}", file.display());
    let output = command(&line);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("element (1, 2) is lost"), "earlier failures are told: {text}");
    let mut all = names(&file);
    all.sort();
    assert_eq!(all, ["deeds/fail", "deeds/pass/emulated", "deeds/pass/layout"], "nothing was run twice");
}

fn a_run_of_another_seed_is_not_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    let of_seed =
        |seed: u32| command(&format!("--target toy deeds/pass --seed {seed} --resume --results {}", file.display()));
    assert_eq!(of_seed(1).status.code(), Some(0), "there is nothing yet to go on with");
    let other = of_seed(2);
    assert_eq!(other.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&other.stderr);
    assert!(errors.contains("the seed is 1 in one and 2 in the other"), "{errors}");
}

fn merged_shards_are_the_full_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let shard_file = |shard_file: u32| folder.path().join(format!("{shard_file}.jsonl"));
    for number in 1..=3 {
        let line = format!("--target toy --target twin deeds/many deeds/fail --shard {number}/3");
        let status = command(&format!("{line} --results {}", shard_file(number).display())).status;
        assert!(status.code().is_some_and(|code| code < 2), "{status}");
    }
    let merged_file = folder.path().join("whole.jsonl");
    let files: Vec<_> = (1..=3).map(|number| shard_file(number).display().to_string()).collect();
    let output = command(&format!("merge {} --results {}", files.join(" "), merged_file.display()));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let merged = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(names(&merged_file).len(), 42);
    // The totals equal those of one run, except for the order of failures.
    let tables =
        |text: &str| text.lines().filter(|line| line.starts_with("deeds")).map(str::to_owned).collect::<Vec<_>>();
    let at_once = command("--target toy --target twin deeds/many deeds/fail");
    assert_eq!(tables(&merged), tables(&String::from_utf8_lossy(&at_once.stdout)));
    let missing = command(&format!("merge {} {}", files[0], files[2]));
    assert_eq!(missing.status.code(), Some(3));
    let text = String::from_utf8_lossy(&missing.stdout);
    assert!(text.contains("part 2/3 of toy is missing") && text.contains("part 2/3 of twin is missing"), "{text}");
    let second = command(&format!("merge {}", merged_file.display()));
    assert_eq!(tables(&String::from_utf8_lossy(&second.stdout)), tables(&merged));
}

fn merging_lists_cases_that_were_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    assert_eq!(command(&format!("--target toy deeds/pass --results {}", file.display())).status.code(), Some(0));
    let text = fs::read_to_string(&file).expect("results");
    let cut: Vec<_> = text.lines().filter(|line| !line.contains("deeds/pass/layout")).collect();
    fs::write(&file, cut.join("\n")).expect("results with a hole");
    let output = command(&format!("merge {}", file.display()));
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 cases were chosen and not run"));
}

fn what_is_no_result_is_refused_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.jsonl");
    assert_eq!(command(&format!("--target toy deeds/pass --results {}", file.display())).status.code(), Some(0));
    let mut lines: Vec<_> = fs::read_to_string(&file).expect("results").lines().map(str::to_owned).collect();
    lines.insert(1, r#"{"event":"later","what":"readers skip it"}"#.to_owned());
    fs::write(&file, lines.join("\n") + "\n").expect("results");
    assert_eq!(command(&format!("merge {}", file.display())).status.code(), Some(0));
    lines.insert(2, "not JSON".to_owned());
    fs::write(&file, lines.join("\n") + "\n").expect("results");
    let output = command(&format!("merge {}", file.display()));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("toy.jsonl:3: no result"));
    fs::write(&file, "").expect("nothing");
    assert_eq!(command(&format!("merge {}", file.display())).status.code(), Some(2));
}
