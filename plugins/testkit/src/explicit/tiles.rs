//! The choices of synthesis for the usual tiles of a matrix multiplication, as a table.

use std::fmt::Write;

use super::synthesize_layouts;
use crate::prelude::*;
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};

/// Tiles M x N x K of an iteration, as CUTLASS, Composable Kernel and Triton's autotuning lists use them.
const TILES: [[u64; 3]; 12] = [
    [64, 64, 64],
    [64, 128, 64],
    [64, 128, 128],
    [64, 256, 32],
    [64, 256, 64],
    [128, 64, 64],
    [128, 128, 32],
    [128, 128, 64],
    [128, 128, 128],
    [256, 64, 64],
    [128, 256, 64],
    [256, 128, 64],
];

/// Element types of the operands with the numbers of warps of a block.
const KINDS: [(&str, u32); 4] = [("f16", 4), ("f16", 8), ("f8E4M3FN", 8), ("i8", 8)];

/// Total K of the multiplication.
const DEPTH: u64 = 4096;

/// The choices for one tile.
pub struct TileDerivation {
    /// The tile: M, N and K.
    pub tile: [u64; 3],
    /// Element type of the operands.
    pub element: &'static str,
    /// Number of warps of a block.
    pub warps: u32,
    /// The derivation, or the reason why there is none.
    pub derivation: Result<Derivation, String>,
}

/// Returns the text of `docs/examples/sized_gemm.ttir` with these sizes and operands of type `element`, accumulated in
/// 32 bits.
pub fn sized_gemm([m, n, k]: [u64; 3], element: &str) -> String {
    let file = shared_data::workspace().join("docs/examples/sized_gemm.ttir");
    let text = std::fs::read_to_string(file).expect("the example");
    let lines = text.lines().filter(|line| !line.starts_with("tw.")).map(|line| format!("{line}\n"));
    let sizes = [("${m}", m), ("${n}", n), ("${k}", k), ("${depth / k}", DEPTH / k)];
    let text = sizes.iter().fold(lines.collect::<String>(), |text, (name, size)| text.replace(name, &size.to_string()));
    let text = text.replace("f16", element);
    if element.starts_with('i') { text.replace("0.000000e+00 : f32", "0 : i32").replace("f32", "i32") } else { text }
}

/// Solves the usual tiles on a target.
pub fn synthesize_usual_tiles(target: &dyn Target) -> Vec<TileDerivation> {
    let kinds = |tile: [u64; 3]| KINDS.into_iter().map(move |(element, warps)| (tile, element, warps));
    let solve = |(tile, element, warps): ([u64; 3], &'static str, u32)| {
        let derivation = synthesize_layouts(target, &sized_gemm(tile, element), warps, SynthesisOptions::default());
        TileDerivation { tile, element, warps, derivation }
    };
    TILES.into_iter().flat_map(kinds).map(solve).collect()
}

/// Returns the instruction of a choice, and how its loop is pipelined.
fn summary(choice: &TileDerivation) -> String {
    let Ok(derivation) = &choice.derivation else { return "none: too many registers".to_owned() };
    let instruction = &derivation.dots[0].instruction;
    let of = &derivation.loops[0];
    let mut text = format!("`{instruction}`, {} stages", of.stages);
    if of.buffers < of.stages {
        text.push_str(", one buffer");
    }
    if of.tensor_copies {
        text.push_str(", bulk copies");
    }
    if of.producers > 0 {
        text.push_str(", producer warp");
    }
    text
}

/// Writes the choices for the usual tiles as a table, one column for each target.
pub fn format_synthesis_choices(targets: &[(&str, &[TileDerivation])]) -> String {
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let mut text =
        format!("| tile | operands | warps | {} |\n|---|---|--:|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let rows = targets.first().map_or(0, |(_, choices)| choices.len());
    for row in 0..rows {
        let TileDerivation { tile: [m, n, k], element, warps, .. } = &targets[0].1[row];
        let choices: Vec<String> = targets.iter().map(|(_, choices)| summary(&choices[row])).collect();
        let _ = writeln!(text, "| {m}x{n}x{k} | `{element}` | {warps} | {} |", choices.join(" | "));
    }
    text
}
