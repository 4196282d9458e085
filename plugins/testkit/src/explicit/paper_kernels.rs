//! The kernels of the Hexcute paper's evaluation with usual tiles, as programs of `docs/examples`: their cases, and the
//! rows of a table of choices.

use std::sync::Arc;

use super::case_data::{Argument, build_case, input, integers, output};
use super::mamba::mamba_case;
use super::parts::read_example;
use super::{EmulatedDerivation, check_synthesis_page_rows, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::{AccessReport, Derivation, SharedCopyLoopReport, SynthesisOptions};
use tilewright_testkit::sample::sample;
use tilewright_tile::op::name::{ttg, tw};
use tilewright_tile::text::TileSizeTemplate;
use tilewright_verify::case::ProgramCase;

/// A kernel of the paper with the sizes of its tile.
struct PaperKernel {
    name: &'static str,
    /// The program of `docs/examples`.
    program: &'static str,
    sizes: &'static [(&'static str, u64)],
    case: fn(u32) -> ProgramCase,
}

const KERNELS: [PaperKernel; 7] = [
    PaperKernel {
        name: "GEMM, f16",
        program: "sized_gemm",
        sizes: &[("m", 128), ("n", 128), ("k", 64), ("depth", 512)],
        case: gemm_case,
    },
    PaperKernel {
        name: "GEMM, fp8 with block scales",
        program: "sized_fp8_gemm",
        sizes: &[("m", 128), ("n", 128), ("k", 128)],
        case: fp8_case,
    },
    PaperKernel {
        name: "GEMM, W4A16",
        program: "sized_int4_gemm",
        sizes: &[("m", 64), ("n", 128), ("k", 128)],
        case: int4_case,
    },
    PaperKernel {
        name: "mixture of experts, W4A16",
        program: "sized_moe",
        sizes: &[("rows", 64), ("n", 128), ("k", 128)],
        case: moe_case,
    },
    PaperKernel {
        name: "attention",
        program: "sized_attention",
        sizes: &[("rows", 128), ("keys", 64), ("head", 128)],
        case: attention_case,
    },
    PaperKernel {
        name: "attention, decoding",
        program: "sized_decode",
        sizes: &[("heads", 16), ("keys", 64), ("head", 128), ("part", 256)],
        case: decode_case,
    },
    PaperKernel { name: "selective scan (Mamba)", program: "mamba_scan", sizes: &[], case: |_| mamba_case() },
];

/// The columns of the table.
const HEADER: &str = "| kernel | tile | target | warps | instruction | copies to shared memory | swizzles | stages |\n|---|---|---|--:|---|---|---|---|\n";

/// Checks the results of the kernels on the emulator, and the table of choices at the mark `mark` of
/// `docs/synthesis.md`. `targets` have the numbers of warps of a block; decoding and the scan have four. Each target
/// checks one kernel, the first target that of index `first`; with [`tilewright_testkit::sample::ALL_CASES`] all.
pub fn check_paper_kernels(mark: &str, first: usize, targets: &[(&str, &dyn Target, u32)]) {
    let mut rows = Vec::new();
    for (index, (gpu_model, target, warps)) in targets.iter().enumerate() {
        for kernel in sample(KERNELS.iter().collect(), KERNELS.len(), first + index) {
            let warps = if kernel.sizes.is_empty() || kernel.program == "sized_decode" { 4 } else { *warps };
            rows.push((kernel.name, kernel.row(gpu_model, &solve(kernel, *target, warps), warps)));
        }
    }
    let order = |name: &str| KERNELS.iter().position(|kernel| kernel.name == name);
    rows.sort_by_key(|(name, _)| order(name));
    check_synthesis_page_rows(mark, HEADER, &rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
}

fn solve(kernel: &PaperKernel, target: &dyn Target, warps: u32) -> Arc<EmulatedDerivation> {
    synthesize_and_emulate(target, &(kernel.case)(warps), &kernel.text(), SynthesisOptions::default())
}

impl PaperKernel {
    /// Returns the text of the program with its sizes.
    fn text(&self) -> String {
        let text = read_example(self.program);
        let Some(template) = TileSizeTemplate::parse(&text).expect("an example") else { return text };
        let size = |name: &str| self.sizes.iter().find(|(size, _)| *size == name).expect("a size").1;
        let sizes: Vec<u64> = template.parameters().iter().map(|parameter| size(&parameter.name)).collect();
        let text = template.substitute_sizes(&sizes).expect("sizes");
        // The number of iterations follows from the row length, so that tiles are known to lie within rows.
        let iterations = "%tile_k = arith.constant 64 : i32\n    %turns = arith.divsi %k, %tile_k : i32";
        text.replace("%turns = arith.constant 8 : i32", iterations)
    }

    fn row(&self, gpu_model: &str, solved: &EmulatedDerivation, warps: u32) -> String {
        let derivation = &solved.derivation;
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .filter(|(name, _)| *name != "depth")
            .map(|(name, size)| format!("{name} {size}"))
            .collect();
        let tile = if sizes.is_empty() { "32 times of 16 channels".to_owned() } else { sizes.join(", ") };
        let mut instructions: Vec<String> =
            derivation.dots.iter().map(|dot| format!("`{}`", shorten(&dot.instruction))).collect();
        instructions.dedup();
        let instructions = if instructions.is_empty() { "none".to_owned() } else { instructions.join(", ") };
        let loops: Vec<String> = derivation.loops.iter().map(stages).collect();
        format!(
            "| {} | {tile} | {gpu_model} | {warps} | {instructions} | {} | {} | {} |\n",
            self.name,
            copies(derivation),
            swizzles(derivation),
            loops.join(", ")
        )
    }
}

/// Shortens an instruction's name by the modifiers that all MMAs of its kind have.
fn shorten(instruction: &str) -> String {
    instruction.replace(".sync.aligned", "").replace(".row.col", "")
}

/// Returns the kinds of copies that fill the tensors in shared memory, with the tensors.
fn copies(derivation: &Derivation) -> String {
    let kind = |access: &AccessReport| match &*access.operation {
        tw::BULK_TENSOR_LOAD => Some("bulk tensor".to_owned()),
        ttg::ASYNC_COPY_GLOBAL_TO_LOCAL if access.instruction.is_some() => {
            Some(format!("asynchronous, {} bits", access.vector_bits))
        }
        ttg::ASYNC_COPY_GLOBAL_TO_LOCAL | ttg::LOCAL_STORE => {
            Some(format!("by registers, {} bits", access.vector_bits))
        }
        _ => None,
    };
    grouped(derivation, |memory| memory.accesses.iter().find_map(kind))
}

/// Returns the swizzles of the tensors in shared memory, with the tensors.
fn swizzles(derivation: &Derivation) -> String {
    grouped(derivation, |memory| {
        let swizzles: Vec<&str> = memory.notation.split(" o ").filter(|part| part.starts_with("Swizzle")).collect();
        Some(if swizzles.is_empty() { "none".to_owned() } else { format!("`{}`", swizzles.join(" o ")) })
    })
}

/// Returns a property of each tensor in shared memory; tensors with equal properties are listed together.
fn grouped(
    derivation: &Derivation,
    property: impl Fn(&tilewright_assign::synthesis::SharedTensorReport) -> Option<String>,
) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for memory in &derivation.memories {
        let Some(own) = property(memory) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, tensors)) => tensors.push(&memory.tensor),
            None => groups.push((own, vec![&memory.tensor])),
        }
    }
    match &groups[..] {
        [(only, _)] => only.clone(),
        _ => {
            groups.iter().map(|(own, tensors)| format!("{}: {own}", tensors.join(", "))).collect::<Vec<_>>().join("; ")
        }
    }
}

/// Returns the stages of a loop, and the role of its warps.
fn stages(of: &SharedCopyLoopReport) -> String {
    let mut text = of.stages.to_string();
    if of.buffers < of.stages {
        text.push_str(", one buffer");
    }
    if of.producers > 0 {
        text.push_str(", producer warp");
    }
    if !of.pending.is_empty() {
        text.push_str(", MMAs overlap");
    }
    text
}

/// A formula for small values, multiples of a quarter between -1 and 1.
pub(super) fn quarters(row: usize, column: usize) -> f64 {
    ((7 * row + 5 * column) % 9) as f64 / 4.0 - 1.0
}

/// Another formula of this kind.
pub(super) fn others(row: usize, column: usize) -> f64 {
    ((3 * row + 4 * column) % 7) as f64 / 4.0 - 0.75
}

/// Returns the product of two matrices, row-major, whose elements are formulas of (row, K) and (K, column).
pub(super) fn multiply(
    [m, n, k]: [usize; 3],
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let sum = |row: usize, column: usize| (0..k).map(|index| a(row, index) * b(index, column)).sum();
    (0..m * n).map(|index| sum(index / n, index % n)).collect()
}

fn gemm_case(warps: u32) -> ProgramCase {
    let [m, n, k] = [128, 128, 512];
    let product = multiply([m, n, k], quarters, |index, column| others(column, index));
    let arguments = vec![
        ("a", input("f16", [m, k], quarters)),
        ("b", input("f16", [n, k], others)),
        ("c", output("f16", [m, n], product, [1.0 / 1024.0, 0.0])),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    build_case("sized_gemm", [1, 1], warps, arguments)
}

fn fp8_case(warps: u32) -> ProgramCase {
    let ([m, n, k], block) = ([128, 128, 256], 128);
    let of_a = |part: usize, row: usize| (1 + (part + row) % 4) as f64 / 4.0;
    let of_b = |part: usize| (1 + part) as f64 / 2.0;
    let product = multiply(
        [m, n, k],
        |row, index| quarters(row, index) * of_a(index / block, row) * of_b(index / block),
        |index, column| others(column, index),
    );
    let arguments = vec![
        ("a", input("f8e4m3", [m, k], quarters)),
        ("b", input("f8e4m3", [n, k], others)),
        ("s", input("f32", [k / block, m], of_a)),
        ("r", input("f32", [1, k / block], |_, part| of_b(part))),
        ("c", output("f32", [m, n], product, [1e-5, 1e-5])),
        ("m", Argument::Integer(m)),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    build_case("sized_fp8_gemm", [1, 1], warps, arguments)
}

/// A formula for 4-bit weights, as unsigned numbers of column and K.
fn nibble(column: usize, index: usize) -> usize {
    (5 * column + 3 * index + column * index / 8) % 16
}

/// Two weights of neighbours along K as a byte, by column and byte.
fn packed_nibbles(column: usize, byte: usize) -> usize {
    nibble(column, 2 * byte) | nibble(column, 2 * byte + 1) << 4
}

fn int4_case(warps: u32) -> ProgramCase {
    let ([m, n, k], block) = ([64, 128, 256], 128);
    let scale = |part: usize, column: usize| (1 + (part + column) % 3) as f64 / 16.0;
    let zero = |part: usize, column: usize| ((part + 2 * column) % 16) as f64;
    let weight = |index: usize, column: usize| {
        (nibble(column, index) as f64 - zero(index / block, column)) * scale(index / block, column)
    };
    let arguments = vec![
        ("a", input("f16", [m, k], quarters)),
        ("b", integers("u8", [n, k / 2], packed_nibbles)),
        ("s", input("f16", [k / block, n], scale)),
        ("z", input("f16", [k / block, n], zero)),
        ("c", output("f32", [m, n], multiply([m, n, k], quarters, weight), [1e-5, 1e-5])),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    build_case("sized_int4_gemm", [1, 1], warps, arguments)
}

/// Two experts, 40 tokens for both: a block has the places of one expert.
fn moe_case(warps: u32) -> ProgramCase {
    let ([tokens, n, k], [block, rows, experts]) = ([40, 128, 256], [128, 64, 2]);
    let signed = |row: usize, index: usize| (nibble(row, index) as f64 + 8.0) % 16.0 - 8.0;
    let scale = |row: usize, column: usize| (1 + (row + column) % 3) as f64 / 16.0;
    let gate = |place: usize| (1 + place % 4) as f64 / 4.0;
    let value = |place: usize, column: usize| {
        let (token, expert) = (place / experts, place % experts);
        let weight =
            |index: usize| signed(expert * n + column, index) * scale(expert * (k / block) + index / block, column);
        gate(place) * (0..k).map(|index| quarters(token, index) * weight(index)).sum::<f64>()
    };
    let values = (0..tokens * experts * n).map(|index| value(index / n, index % n)).collect();
    let place = |expert: usize, row: usize| if row < tokens { experts * row + expert } else { 0 };
    let arguments = vec![
        ("x", input("f16", [tokens, k], quarters)),
        ("b", integers("u8", [experts * n, k / 2], packed_nibbles)),
        ("s", input("f16", [experts * (k / block), n], scale)),
        ("gate", input("f32", [1, tokens * experts], |_, place| gate(place))),
        ("expert", integers("i32", [1, experts], |_, expert| expert)),
        ("place", integers("i32", [experts, rows], place)),
        ("there", integers("i32", [1, experts], |_, _| tokens)),
        ("y", output("f32", [tokens * experts, n], values, [1e-5, 1e-5])),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    build_case("sized_moe", [1, experts], warps, arguments)
}

/// Returns the attention of `rows` rows of q over `keys` keys of `head` elements, row-major, and log2 of the divisor of
/// each row. The exponents are multiplied by `scale`, and their base is 2.
fn attend([rows, keys, head]: [usize; 3], scale: f64) -> (Vec<f64>, Vec<f64>) {
    let mut outputs = Vec::new();
    let mut divisors = Vec::new();
    for row in 0..rows {
        let score = |key: usize| (0..head).map(|index| quarters(row, index) * others(key, index)).sum::<f64>() * scale;
        let powers: Vec<f64> = (0..keys).map(|key| score(key).exp2()).collect();
        let divisor: f64 = powers.iter().sum();
        let value =
            |column: usize| powers.iter().enumerate().map(|(key, power)| power * quarters(key, column)).sum::<f64>();
        outputs.extend((0..head).map(|column| value(column) / divisor));
        divisors.push(divisor.log2());
    }
    (outputs, divisors)
}

const SCALE: f32 = 0.125;

fn attention_case(warps: u32) -> ProgramCase {
    sized_attention_case([128, 128, 128], warps)
}

/// Returns the attention of one block in tiles of `rows` rows of heads of `head` elements, which multiplies `keys` rows
/// of k and v, `tile_keys` in each iteration: its case, and the text of the program.
#[must_use]
pub fn sized_attention([rows, keys, head]: [usize; 3], tile_keys: usize, warps: u32) -> (ProgramCase, String) {
    let template = TileSizeTemplate::parse(&read_example("sized_attention")).expect("an example").expect("open sizes");
    let text = template.substitute_sizes(&[rows, tile_keys, head].map(|size| size as u64)).expect("sizes");
    (sized_attention_case([rows, keys, head], warps), text)
}

fn sized_attention_case([rows, keys, head]: [usize; 3], warps: u32) -> ProgramCase {
    let arguments = vec![
        ("q", input("f16", [rows, head], quarters)),
        ("k", input("f16", [keys, head], others)),
        ("v", input("f16", [keys, head], quarters)),
        ("o", output("f16", [rows, head], attend([rows, keys, head], SCALE.into()).0, [2e-3, 2e-3])),
        ("scale", Argument::Float(SCALE)),
        ("length", Argument::Integer(keys)),
    ];
    build_case("sized_attention", [1, 1], warps, arguments)
}

/// One part, whose last iteration has eight keys.
fn decode_case(warps: u32) -> ProgramCase {
    let [heads, keys, head] = [16, 200, 128];
    let (outputs, divisors) = attend([heads, keys, head], SCALE.into());
    let arguments = vec![
        ("q", input("f16", [heads, head], quarters)),
        ("k", input("f16", [keys, head], others)),
        ("v", input("f16", [keys, head], quarters)),
        ("o", output("f32", [heads, head], outputs, [2e-3, 2e-3])),
        ("l", output("f32", [1, heads], divisors, [1e-4, 1e-4])),
        ("scale", Argument::Float(SCALE)),
        ("length", Argument::Integer(keys)),
    ];
    build_case("sized_decode", [1, 1], warps, arguments)
}
