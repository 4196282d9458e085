//! Notations of this plugin's families: attribute text as Triton 3.9.0 prints it, JSON, and the laws between them.

use tilewright_amd_tables::families::AmdFamilies;
use tilewright_testkit::notation;
use tilewright_vendor_testkit::prelude::*;

#[test]
fn text_is_what_triton_prints() {
    let vendor_families = AmdFamilies::default();
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    notation::all_texts_are_as_printed(include_str!("../data/attribute_text.jsonl"), &families);
}

#[test]
fn every_layout_comes_back_from_its_text() {
    check_every_layout_comes_back_from_its_text(Answers::Sample);
}

pub fn check_every_layout_comes_back_from_its_text(answers: Answers) {
    let vendor_families = AmdFamilies::default();
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    notation::all_layouts_come_back(answers, include_str!("../data/layouts.jsonl"), &families);
}
