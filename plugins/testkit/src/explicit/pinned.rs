//! Compares the choices of synthesis with pinned ones: an instruction, a warp partition, a number of stages, a
//! conversion before a store.

use super::tiles::sized_gemm;
use super::{EXPLICIT_MEMORY_PROGRAMS, case, synthesize_layouts};
use crate::prelude::*;
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};
use tilewright_testkit::sample::is_all;

/// The share of the predicted time that a pinned choice may gain.
const TOLERANCE: f64 = 0.01;

/// A program with one choice pinned.
struct PinnedProgram {
    choice: String,
    text: String,
}

/// Predicts the time of each program with each choice pinned in turn. Returns the number of comparisons, and a line for
/// each pinned choice that is faster than what the search chooses, by more than a hundredth.
pub fn compare_pinned(target: &dyn Target) -> (usize, Vec<String>) {
    let (mut compared, mut faster) = (0, Vec::new());
    for (name, text, warps) in programs() {
        let predict = |text: &str| synthesize_layouts(target, text, warps, SynthesisOptions::default());
        let Ok(found) = predict(&text) else { continue };
        for pinned in pinned_programs(target, (&text, warps), &found) {
            let Ok(other) = predict(&pinned.text) else { continue };
            compared += 1;
            let cycles = [&found, &other].map(|derivation| derivation.prediction.cycles);
            if cycles[0] * (1.0 - TOLERANCE) > cycles[1] {
                faster.push(format!("{name}: {:.0} cycles, {:.0} with {}", cycles[0], cycles[1], pinned.choice));
            }
        }
    }
    (compared, faster)
}

/// Returns the name, the text and the number of warps of each program to compare: three of them, unless all cases are
/// tested.
fn programs() -> Vec<(String, String, u32)> {
    let is_all = is_all();
    let of_suite =
        EXPLICIT_MEMORY_PROGRAMS.into_iter().filter(|name| is_all || ["explicit_gemm", "explicit_int1"].contains(name));
    let of_suite = of_suite.map(|name| {
        let (case, text) = case(name);
        (name.to_owned(), text, case.warps)
    });
    let tiles =
        [([128, 128, 64], "i8", 4), ([128, 128, 64], "f16", 8), ([64, 256, 32], "f16", 4), ([64, 64, 64], "i8", 8)];
    let of_tiles = tiles.into_iter().take(if is_all { tiles.len() } else { 1 });
    let of_tiles =
        of_tiles.map(|(tile, element, warps)| (format!("{tile:?} {element}"), sized_gemm(tile, element), warps));
    of_suite.chain(of_tiles).collect()
}

fn pinned_programs(target: &dyn Target, (text, warps): (&str, u32), found: &Derivation) -> Vec<PinnedProgram> {
    let mut pinned = converted_stores(text);
    for open in &found.loops {
        pinned.extend((1..=4).map(|stages| {
            let state = |text: String, tensor: &String| {
                let stated = format!("{tensor} = tw.shared_tensor {{stages = {stages} : i32}} :");
                text.replace(&format!("{tensor} = tw.shared_tensor :"), &stated)
            };
            PinnedProgram { choice: format!("{stages} stages"), text: open.tensors.iter().fold(text.to_owned(), state) }
        }));
    }
    for dot in &found.dots {
        let rows = rows_of_types(target, &dot.instruction).into_iter();
        pinned.extend(rows.map(|row| pinned_dot(text, &dot.value, &format!("instruction = \"{row}\""))));
        let partitions = (0..=warps.ilog2()).map(|along_n| [warps >> along_n, 1 << along_n]);
        let warps = |[m, n]: [u32; 2]| format!("warps = array<i64: {m}, {n}>");
        pinned.extend(partitions.map(|partition| pinned_dot(text, &dot.value, &warps(partition))));
    }
    pinned
}

/// Returns the program with an attribute of the dot `value`.
fn pinned_dot(text: &str, value: &str, attribute: &str) -> PinnedProgram {
    let pin = |line: &str| match line.split_once(" : ") {
        Some((mma, ty)) if mma.trim_start().starts_with(&format!("{value} = tw.mma")) => {
            format!("{mma} {{{attribute}}} : {ty}\n")
        }
        _ => format!("{line}\n"),
    };
    PinnedProgram { choice: format!("{value} with {attribute}"), text: text.lines().map(pin).collect() }
}

/// Returns the program with a layout conversion before each store to global memory, one at a time.
fn converted_stores(text: &str) -> Vec<PinnedProgram> {
    let convert = |line: &str| {
        let (copy, types) = line.split_once(" : (tensor<")?;
        let (value, target) = copy.trim_start().strip_prefix("tw.copy ")?.split_once(" to ")?;
        let (ty, view) = types.split_once(", !tw.view<")?;
        let converted = format!("%converted = tw.rearrange {value} : tensor<{ty} -> tensor<{ty}");
        let converted = format!("{converted}\ntw.copy %converted to {target} : (tensor<{ty}, !tw.view<{view}");
        Some(PinnedProgram { choice: format!("{value} converted"), text: text.replace(line, &converted) })
    };
    text.lines().filter_map(convert).collect()
}

/// Returns the MMA instructions whose operands and accumulator have the types of `instruction`.
fn rows_of_types(target: &dyn Target, instruction: &str) -> Vec<String> {
    let elements = |row: &Instruction| -> Vec<(String, String)> {
        let tiles = row.operands.iter().filter_map(|operand| Some((operand.role()?, operand.element()?)));
        let mut tiles: Vec<_> = tiles.map(|(role, element)| (role.to_owned(), element.to_owned())).collect();
        tiles.sort();
        tiles
    };
    let rows = target.instructions();
    let Some(own) = rows.iter().find(|row| row.name == instruction).map(elements) else { return Vec::new() };
    let is_like = |row: &&Instruction| {
        row.mma_shape().is_some_and(|shape| shape.iter().all(|size| size.is_power_of_two())) && elements(row) == own
    };
    rows.iter().filter(is_like).map(|row| row.name.clone()).collect()
}
