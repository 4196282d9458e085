//! What was found for programs in explicit memory, as a table beside what Triton emits for the same computations.

use std::fmt::Write;

use super::{PROGRAMS, Solved, solved};
use crate::prelude::*;
use serde_json::Value;
use tilewright_assign::synthesis::{AccessLine, Derivation, Options};
use tilewright_tile::op::name::{ttg, tw};

/// What Triton makes of the same, counted in its code by `conformance/peers/explicit_beside_triton.py`.
const TRITON: &str = include_str!("triton.json");

/// The table of programs on targets, for the page on synthesis.
pub fn table(targets: &[(&str, &dyn Target)]) -> String {
    let triton: Value = serde_json::from_str(TRITON).expect("counts of Triton's code");
    let mut text = String::from(
        "| program | target | instruction | bits of copies | of loads | wavefronts stored | loaded | above the least, in loops | conversions | exchanges | shared bytes | barriers | stages | leaves | Triton: instruction | conversions | shared bytes | barriers |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|\n",
    );
    for name in PROGRAMS {
        for (product, target) in targets {
            let found = solved(*target, name, Options::default());
            let row = row(&found);
            let theirs = theirs(&triton["targets"][*product][name]);
            // Writing to a text does not fail.
            let _ = writeln!(text, "| {name} | {product} | {row} | {theirs} |");
        }
    }
    text
}

fn row(Solved { derivation, counts, .. }: &Solved) -> String {
    let instruction = derivation.products.first().map_or("none", |product| &product.instruction);
    let [copies, loads] = [true, false].map(|copies| bits(derivation, copies));
    let stages = derivation.loops.iter().max_by_key(|of| of.stages).map_or_else(
        || "none".to_owned(),
        |of| format!("{}{}", of.stages, if of.pending.is_empty() { "" } else { ", sums pending" }),
    );
    let cells = [
        counts.wavefronts_stored,
        counts.wavefronts_loaded,
        derivation.conflicts_in_loops(),
        derivation.conversions.len() as u64,
        counts.exchanges + counts.exchanges_xor,
        derivation.shared_bytes,
        counts.barriers,
    ];
    let cells = cells.map(|cell| cell.to_string()).join(" | ");
    format!("`{}` | {copies} | {loads} | {cells} | {stages} | {}", short(instruction), derivation.search.leaves)
}

/// The fewest bits that a lane moves together, of copies to shared memory or of loads from there; copies may go by boxes.
fn bits(derivation: &Derivation, copies: bool) -> String {
    let accesses = derivation.memories.iter().flat_map(|memory| &memory.accesses);
    let is_copy = |access: &&AccessLine| (access.operation != ttg::LOCAL_LOAD) == copies;
    let (boxes, lanes): (Vec<_>, Vec<_>) =
        accesses.filter(is_copy).partition(|access| access.operation == tw::LOAD_BOX);
    let least = lanes.iter().map(|access| access.vector_bits).min().map(|bits| bits.to_string());
    let boxes = (!boxes.is_empty()).then(|| "boxes".to_owned());
    let both: Vec<String> = boxes.into_iter().chain(least).collect();
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

/// An instruction without the words that all of its kind have.
fn short(instruction: &str) -> String {
    instruction.replace(".sync.aligned", "").replace(".row.col", "")
}
