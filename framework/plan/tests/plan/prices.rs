//! Tests that compare plans by plain accesses and shuffles with the code of the Triton compiler; see the module
//! `prices`.

use tilewright_testkit::known_answers::Answers;
use tilewright_vendor_testkit::prices;

/// The cases with a higher price than Triton's without instructions that move tiles, each with the reason; with
/// instructions there are none.
const WORSE: [(&str, &str); 1] = [("d-cuda90-slice_slice-008", "columns of 16-bit elements are stored as matrices")];

#[test]
fn no_plan_costs_more_than_what_triton_emits() {
    check_no_plan_costs_more_than_what_triton_emits(Answers::SampleLayout);
}

pub fn check_no_plan_costs_more_than_what_triton_emits(answers: Answers) {
    let rows = prices::all_rows(answers, |_| Some(Vec::new()));
    assert_eq!(prices::worse(&rows), WORSE.map(|(id, _)| id).into(), "rows that are worse than Triton's");
}
