//! Notations of this plugin's families: attribute text as the Triton compiler (version 3.9.0) prints
//! it, JSON, and the laws that join them.

#[path = "../../../framework/tests/known_answers/mod.rs"]
mod known_answers;
#[path = "../../../framework/tests/known_answers/notation.rs"]
mod notation;

use known_answers::{all_agree, rows, sample_and_full};
use notation::{check_round_trip, check_text};
use serde_json::Value;
use tilewright::layout::families::Neutral;
use tilewright::layout::{FamilyError, FamilySet};
use tilewright_amd::families::VendorFamilies;

/// Rows of `params`, `shape` and the `text` that Triton's own printer gives for them.
const TEXTS: &str = include_str!("data/attribute_text.jsonl");
const LAYOUTS: &str = include_str!("data/layouts.jsonl");

#[test]
fn text_is_what_triton_prints() {
    let own = VendorFamilies::default();
    let families = FamilySet::new(vec![&Neutral, &own]);
    all_agree(&rows(TEXTS), |_| true, |row| check_text(row, &families));
    all_agree(&rows(TEXTS), |_| true, |row| check_round_trip(row, &families));
}

#[test]
fn every_layout_comes_back_from_its_text() {
    let own = VendorFamilies::default();
    let families = FamilySet::new(vec![&Neutral, &own]);
    let served = |row: &Value| !matches!(known_answers::resolve(row, &families), Err(FamilyError::Unknown { .. }));
    all_agree(&sample_and_full(LAYOUTS, "oracle/layouts.jsonl"), served, |row| check_round_trip(row, &families));
}
