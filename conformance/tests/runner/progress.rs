//! What a run says of itself while it goes on.

use super::{Tests, command};

pub const TESTS: Tests = &[("a_run_says_how_far_it_has_come", a_run_says_how_far_it_has_come)];

/// A case hangs for longer than lines are apart; nothing else happens then.
fn a_run_says_how_far_it_has_come() {
    let output = command("--target toy --jobs 2 --timeout 11 deeds/fail deeds/hang deeds/pass");
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("4 cases of toy, 2 at a time"), "{said}");
    let line = lines.next().expect("a line within ten seconds");
    let (count, rest) = line.split_once(" cases/s, ").expect("a rate");
    // How many have ended by then is the machine's to say; the one that hangs has not.
    let ended = (0..4).find(|ended| count.starts_with(&format!("{ended} of 4 cases ({} %), ", ended * 25)));
    assert!(ended.is_some() && count.contains(" failed, "), "{line}");
    assert!(rest.starts_with("about ") && rest.ends_with(" left") || ended == Some(0), "{line}");
}
