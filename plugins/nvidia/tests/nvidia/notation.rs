//! Notations of this plugin's families: attribute text of the Triton compiler (version 3.9.0), JSON, and their round
//! trips.

use crate::prelude::*;
use tilewright_testkit::notation;

#[test]
fn text_is_what_triton_prints() {
    let vendor_families = NvidiaFamilies::default();
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    notation::all_texts_are_as_printed(include_str!("../data/attribute_text.jsonl"), &families);
}

#[test]
fn every_layout_comes_back_from_its_text() {
    check_every_layout_comes_back_from_its_text(Answers::Sample);
}

pub fn check_every_layout_comes_back_from_its_text(answers: Answers) {
    let vendor_families = NvidiaFamilies::default();
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    notation::all_layouts_come_back(answers, include_str!("../data/layouts.jsonl"), &families);
}
