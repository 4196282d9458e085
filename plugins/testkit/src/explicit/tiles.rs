//! The choices of synthesis for the usual tiles of a matrix multiplication, as a table.

use super::{check_synthesis_page_rows, synthesize_layouts};
use crate::prelude::*;
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};
use tilewright_testkit::sample::sample;

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
    /// The choices and their reasons.
    pub derivation: Derivation,
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

/// Solves the usual tiles on a target, a fifth of them unless all cases are tested. Checks that `tt.dot` in place of
/// `tw.mma` gives the same choices, for one of 16.
pub fn synthesize_usual_tiles(target: &dyn Target) -> Vec<TileDerivation> {
    let kinds = |tile: [u64; 3]| KINDS.into_iter().map(move |(element, warps)| (tile, element, warps));
    let all: Vec<_> = TILES.into_iter().flat_map(kinds).collect();
    let derive = |text: &str, warps: u32| synthesize_layouts(target, text, warps, SynthesisOptions::default());
    for (tile, element, warps) in sample(all.clone(), 16, 5) {
        let text = sized_gemm(tile, element);
        let choices = [text.replace("tw.mma", "tt.dot"), text].map(|text| {
            derive(&text, warps).map(|found| format!("{:?} {:?} {:?}", found.dots, found.loops, found.memories))
        });
        assert_eq!(choices[0], choices[1], "{tile:?} of {element} by {warps} warps");
    }
    let solve = |(tile, element, warps): ([u64; 3], &'static str, u32)| {
        let derivation = derive(&sized_gemm(tile, element), warps)
            .unwrap_or_else(|error| panic!("{tile:?} of {element} by {warps} warps: {error}"));
        TileDerivation { tile, element, warps, derivation }
    };
    sample(all, 5, 0).into_iter().map(solve).collect()
}

/// Returns the instruction of a choice, and how its loop is pipelined.
fn summary(choice: &TileDerivation) -> String {
    let derivation = &choice.derivation;
    let instruction = &derivation.dots[0].instruction;
    let of = &derivation.loops[0];
    let unit = if of.stages == 1 { "stage" } else { "stages" };
    let mut text = format!("`{instruction}`, {} {unit}", of.stages);
    if of.buffers < of.stages {
        text.push_str(", one buffer");
    }
    if of.tensor_copies {
        text.push_str(", bulk copies");
    }
    if of.producers > 0 {
        text.push_str(", producer warp");
    }
    if derivation.dots[0].spilled_registers > 0 {
        text.push_str(", spills");
    }
    text
}

/// Checks the choices for the usual tiles in the table `mark` of `docs/synthesis.md`, one column for each target.
pub fn check_usual_tiles_page(mark: &str, targets: &[(&str, &[TileDerivation])]) {
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let header =
        format!("| tile | operands | warps | {} |\n|---|---|--:|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let rows = targets.first().map_or(0, |(_, choices)| choices.len());
    let row = |row: usize| {
        let TileDerivation { tile: [m, n, k], element, warps, .. } = &targets[0].1[row];
        let choices: Vec<String> = targets.iter().map(|(_, choices)| summary(&choices[row])).collect();
        format!("| {m}x{n}x{k} | `{element}` | {warps} | {} |\n", choices.join(" | "))
    };
    check_synthesis_page_rows(mark, &header, &(0..rows).map(row).collect::<Vec<_>>());
}
