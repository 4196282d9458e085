//! The families of this plugin against known answers, and against any parameters at all.

#[path = "../../../framework/tests/known_answers/mod.rs"]
mod known_answers;

use known_answers::{all_agree, chain, check_layout, sample_and_full};
use serde_json::Value;
use tilewright::layout::FamilySet;
use tilewright::layout::families::Neutral;
use tilewright_amd::families::VendorFamilies;

const SAMPLE: &str = include_str!("data/layouts.jsonl");

#[test]
fn families_agree() {
    let set = FamilySet::new(vec![&Neutral, &VendorFamilies]);
    let served = ["slice", "dot_operand", "amd_mfma"];
    let own = |row: &Value| {
        let names = chain(&row["params"]);
        names.last().is_some_and(|name| name == "amd_mfma") && names.iter().all(|name| served.contains(&name.as_str()))
    };
    all_agree(&sample_and_full(SAMPLE, "oracle/layouts.jsonl"), own, |row| check_layout(row, &set));
}
