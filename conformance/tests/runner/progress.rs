//! Tests of the progress display of a run.

use super::{Tests, command};

pub const TESTS: Tests = &[("a_run_prints_its_progress", a_run_prints_its_progress)];

/// A run prints progress while a case hangs for longer than the interval of progress lines.
fn a_run_prints_its_progress() {
    let output = command("--target toy --jobs 2 --timeout 11 deeds/fail deeds/hang deeds/pass");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut lines = stderr.lines();
    assert_eq!(lines.next(), Some("4 cases of toy, 2 at a time"), "{stderr}");
    let line = lines.next().expect("a line within ten seconds");
    let (count, rest) = line.split_once(" cases/s, ").expect("a rate");
    // The number of ended cases depends on the machine; the hanging case has not ended.
    let finished = (0..4).find(|finished| count.starts_with(&format!("{finished} of 4 cases ({} %), ", finished * 25)));
    assert!(finished.is_some() && count.contains(" failed, "), "{line}");
    assert!(rest.starts_with("about ") && rest.ends_with(" left") || finished == Some(0), "{line}");
}
