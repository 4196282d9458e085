//! Plans by plain accesses and exchanges against what the Triton compiler emits; see `prices`.

use tilewright_testkit::known_answers::Answers;
use tilewright_vendor_testkit::prices;

/// What is worse without instructions that move tiles; with them nothing is.
const WORSE: [(&str, &str); 1] = [("d-cuda90-slice_slice-008", "columns of 16-bit elements are stored as matrices")];

#[test]
fn no_plan_costs_more_than_what_triton_emits() {
    check_no_plan_costs_more_than_what_triton_emits(Answers::Sample);
}

pub fn check_no_plan_costs_more_than_what_triton_emits(answers: Answers) {
    let rows = prices::all_rows(answers, |_| Some(Vec::new()));
    assert_eq!(prices::worse(&rows), WORSE.map(|(id, _)| id).into(), "rows that are worse than Triton's");
}
