//! Tests that compare plans by plain accesses and shuffles with the code of the Triton compiler ([`prices`]).

use tilewright_testkit::known_answers::Answers;
use tilewright_vendor_testkit::prices;

/// The cases that are slower than Triton's, each with the reason.
const SLOWER: [(&str, &str); 1] =
    [("d-hipgfx950-register_lane-002", "two DPP moves with bank masks exchange words of lanes that are four apart")];

#[test]
fn no_plan_is_slower_than_what_triton_emits() {
    check_no_plan_is_slower_than_what_triton_emits(Answers::Sample);
}

pub fn check_no_plan_is_slower_than_what_triton_emits(answers: Answers) {
    // The plans of this test use no instructions of the target's table, so answers with such instructions are left out.
    let rows = prices::filter_plain_rows(prices::all_rows(answers, |_| Some(Vec::new())));
    assert!(!rows.is_empty());
    // The answers may be a sample that lacks the listed cases.
    let known = SLOWER.map(|(id, _)| id).into_iter().filter(|id| rows.iter().any(|row| row.id == *id)).collect();
    assert_eq!(prices::slower(&rows), known, "rows that are slower than Triton's");
}
