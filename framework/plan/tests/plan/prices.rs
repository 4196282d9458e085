//! Tests that compare plans by plain accesses and shuffles with the code of the Triton compiler ([`prices`]).

use tilewright_testkit::known_answers::Answers;
use tilewright_vendor_testkit::prices;

#[test]
fn no_plan_is_slower_than_what_triton_emits() {
    check_no_plan_is_slower_than_what_triton_emits(Answers::Sample);
}

pub fn check_no_plan_is_slower_than_what_triton_emits(answers: Answers) {
    // The plans of this test use no instructions of the target's table, so answers with such instructions are left out.
    let rows = prices::filter_plain_rows(prices::all_rows(answers, |_| Some(Vec::new())));
    assert!(!rows.is_empty());
    let slower = prices::slower(&rows);
    assert!(slower.is_empty(), "rows that are slower than Triton's: {slower:?}");
}
