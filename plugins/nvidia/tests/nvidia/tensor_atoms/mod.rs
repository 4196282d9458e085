//! Published atoms of instructions of tensor memory.

use serde_json::Value;
use tilewright_vendor_testkit::prelude::*;

const SAMPLE: &str = include_str!("../../data/tensor_instructions.json");

/// Atoms of a file.
pub fn atoms(answers: Answers, file: &str) -> Vec<Value> {
    answers.entries(SAMPLE, file, "atoms")
}
