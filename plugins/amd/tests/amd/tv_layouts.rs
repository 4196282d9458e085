//! Published operand layouts in CuTe's notation, converted to linear layouts and back. The files `instructions.rs` and
//! `thread_values.rs` compare the instruction table with the published layouts.

use tilewright_testkit::bridged::operands;
use tilewright_vendor_testkit::prelude::*;

const SAMPLE: &str = include_str!("../data/tv_layouts.json");

#[test]
fn every_published_mma_converts_to_linear_and_back() {
    check_every_published_mma_converts_to_linear_and_back(Answers::Sample);
}

pub fn check_every_published_mma_converts_to_linear_and_back(answers: Answers) {
    let mut atoms = answers.entries(SAMPLE, "reference/matrix_instruction_tv_layouts.json", "atoms");
    atoms.retain(|atom| atom["vendor"] == "amd");
    for atom in &atoms {
        assert!(operands(atom).iter().all(Option::is_some), "{atom} is not linear");
    }
    assert!(atoms.len() >= 12, "{} atoms", atoms.len());
}
