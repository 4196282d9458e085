//! Published operand layouts in CuTe's notation, through the bridge to linear layouts and back. That rows lie as published,
//! `instructions.rs` and `thread_values.rs` show.

use tilewright_testkit::bridged::operands;
use tilewright_vendor_testkit::prelude::*;

const SAMPLE: &str = include_str!("../data/tv_layouts.json");

#[test]
fn every_published_product_crosses_the_bridge() {
    check_every_published_product_crosses_the_bridge(Answers::Sample);
}

pub fn check_every_published_product_crosses_the_bridge(answers: Answers) {
    let mut atoms = answers.entries(SAMPLE, "reference/matrix_instruction_tv_layouts.json", "atoms");
    atoms.retain(|atom| atom["vendor"] == "amd");
    for atom in &atoms {
        assert!(operands(atom).iter().all(Option::is_some), "{atom} is not linear");
    }
    assert!(atoms.len() >= 12, "{} atoms", atoms.len());
}
