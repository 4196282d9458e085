//! Formats the results of synthesis for explicit-memory programs as a table, with the counts of Triton's code for the
//! same computations.

use std::fmt::Write;

use super::{EXPLICIT_MEMORY_PROGRAMS, EmulatedDerivation, synthesize_and_emulate_case};
use crate::prelude::*;
use serde_json::Value;
use tilewright_assign::synthesis::{AccessReport, Derivation, SynthesisOptions};
use tilewright_tile::op::name::{ttg, tw};

/// Operation counts of Triton's code, from `conformance/peers/explicit_beside_triton.py`.
const TRITON: &str = include_str!("triton.json");

/// Returns the table of programs and targets, for the documentation page on synthesis.
pub fn table(targets: &[(&str, &dyn Target)]) -> String {
    let triton: Value = serde_json::from_str(TRITON).expect("counts of Triton's code");
    let mut text = String::from(
        "| program | target | instruction | bits of copies | of loads | wavefronts stored | loaded | above the lower bound, in loops | conversions | shuffles | shared bytes | barriers | stages | leaves | Triton: instruction | conversions | shared bytes | barriers |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|\n",
    );
    for name in EXPLICIT_MEMORY_PROGRAMS {
        for (gpu_model, target) in targets {
            let found = synthesize_and_emulate_case(*target, name, SynthesisOptions::default());
            let row = row(&found);
            let theirs = theirs(&triton["targets"][*gpu_model][name]);
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "| {name} | {gpu_model} | {row} | {theirs} |");
        }
    }
    text
}

fn row(EmulatedDerivation { derivation, counts, .. }: &EmulatedDerivation) -> String {
    let instruction = derivation.dots.first().map_or("none", |dot| &dot.instruction);
    let [copies, loads] = [true, false].map(|copies| bits(derivation, copies));
    let stages = derivation.loops.iter().max_by_key(|of| of.stages).map_or_else(
        || "none".to_owned(),
        |of| format!("{}{}", of.stages, if of.pending.is_empty() { "" } else { ", accumulator pending" }),
    );
    let cells = [
        counts.wavefronts_stored,
        counts.wavefronts_loaded,
        derivation.conflict_wavefronts_in_loops(),
        derivation.conversions.len() as u64,
        counts.shuffles + counts.shuffles_xor,
        derivation.shared_bytes,
        counts.barriers,
    ];
    let cells = cells.map(|cell| cell.to_string()).join(" | ");
    format!("`{}` | {copies} | {loads} | {cells} | {stages} | {}", short(instruction), derivation.search.leaves)
}

/// Returns the bits per lane of the narrowest copy to shared memory (if `copies`) or load from it; also mentions bulk
/// tensor copies, which have no lanes.
fn bits(derivation: &Derivation, copies: bool) -> String {
    let accesses = derivation.memories.iter().flat_map(|memory| &memory.accesses);
    let is_copy = |access: &&AccessReport| match &*access.operation {
        tw::BULK_TENSOR_STORE => false,
        operation => (operation != ttg::LOCAL_LOAD) == copies,
    };
    let (tensor_copies, lanes): (Vec<_>, Vec<_>) =
        accesses.filter(is_copy).partition(|access| access.operation == tw::BULK_TENSOR_LOAD);
    let least = lanes.iter().map(|access| access.vector_bits).min().map(|bits| bits.to_string());
    let tensor_copies = (!tensor_copies.is_empty()).then(|| "bulk tensor".to_owned());
    let both: Vec<String> = tensor_copies.into_iter().chain(least).collect();
    if both.is_empty() { "none".to_owned() } else { both.join(", ") }
}

fn theirs(row: &Value) -> String {
    if row.get("error").is_some() || row.is_null() {
        return "not compiled | | | ".to_owned();
    }
    let number = |key: &str| row[key].as_u64().map_or_else(String::new, |number| number.to_string());
    let instruction = short(row["instruction"].as_str().unwrap_or("none"));
    format!("`{instruction}` | {} | {} | {}", number("conversions"), number("shared_bytes"), number("barriers"))
}

/// Shortens an instruction's name by the modifiers that all MMAs of its kind have.
fn short(instruction: &str) -> String {
    instruction.replace(".sync.aligned", "").replace(".row.col", "")
}
