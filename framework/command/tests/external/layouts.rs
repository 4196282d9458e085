//! `batch` and all known layouts.

use tilewright_testkit::known_answers::Answers;

use crate::batch::{ROWS, all_as_expected};

/// Some are of families to come, of which a refusal is an answer too.
pub fn check_all_known_layouts(known: Answers) {
    let right = all_as_expected(&known.rows(ROWS, "oracle/layouts.jsonl"));
    assert!(right > 4000, "{right}");
}
