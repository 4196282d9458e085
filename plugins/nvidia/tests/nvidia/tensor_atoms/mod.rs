//! Published atoms (thread-value layouts) of tensor memory instructions.

use crate::prelude::*;
use serde_json::Value;

const SAMPLE: &str = include_str!("../../data/tensor_instructions.json");

/// Returns the atoms of a file of published tables.
pub fn atoms(answers: Answers, file: &str) -> Vec<Value> {
    answers.entries(SAMPLE, file, "atoms")
}
