//! Published atoms of instructions of tensor memory.

use serde_json::Value;

use tilewright_testkit::known_answers::full_text;

const SAMPLE: &str = include_str!("../../data/tensor_instructions.json");

/// Atoms of a file, from the committed excerpt and from the full file.
pub fn atoms(file: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for text in [Some(SAMPLE.to_owned()), full_text(file)].into_iter().flatten() {
        let file: Value = serde_json::from_str(&text).unwrap();
        all.extend(file["atoms"].as_array().unwrap().iter().cloned());
    }
    all
}
