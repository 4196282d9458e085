//! Published atoms of instructions of tensor memory.

use crate::prelude::*;
use serde_json::Value;

const SAMPLE: &str = include_str!("../../data/tensor_instructions.json");

/// Atoms of a file.
pub fn atoms(answers: Answers, file: &str) -> Vec<Value> {
    answers.entries(SAMPLE, file, "atoms")
}
