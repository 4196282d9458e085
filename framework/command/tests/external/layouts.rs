//! Tests of `tilewright batch` on all known layouts.

use tilewright_testkit::known_answers::Answers;

use crate::batch::{ROWS, all_as_expected};

/// Requests all known layouts. Some belong to families that are not served yet, for which an error is an answer too.
pub fn check_all_known_layouts(known: Answers) {
    let right = all_as_expected(&known.rows(ROWS, "oracle/layouts.jsonl"));
    assert!(right > 4000, "{right}");
}
