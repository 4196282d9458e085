//! Seed 000, Table 4: sums over layouts of all kinds are right, nothing is stored twice, and none takes
//! more of shared memory than what the Triton compiler emits for it.

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tilewright_vendor_testkit::prices::tally::{FROZEN, Tally};
use tilewright_vendor_testkit::reductions::{MatrixLayouts, Row, check_all, check_kept, list, problems};

/// What the compiler emits; made by `conformance/peers/reductions_beside_triton.py`.
const TRITON: &str = include_str!("../data/reductions_triton.jsonl");
/// Targets, with what the compiler calls them.
const TARGETS: [(&str, &str); 2] = [("a100", "cuda:80"), ("h100", "cuda:90")];

/// Results of `mma.sync` (version 2) and of groups of four warps (version 3), and operands that lie in
/// registers, over one to eight warps.
fn matrix_layouts() -> MatrixLayouts {
    let single = |warps: &[u64], shape: &[u64]| mma(2, warps, shape);
    let of_group = |warps: [u64; 2], columns: u64| mma(3, &warps, &[16, columns, 16]);
    let warps = [[4, 1], [2, 2], [1, 4], [1, 1], [2, 1], [1, 2], [8, 1], [4, 2], [2, 4], [1, 8]];
    let mut results: Vec<String> = warps.iter().map(|warps| single(warps, &[16, 8])).collect();
    results.extend([8, 16, 32, 64, 128, 256].map(|columns| of_group([4, 1], columns)));
    results.extend([([8, 1], 16), ([8, 1], 64), ([4, 2], 16), ([4, 2], 64)].map(|(warps, n)| of_group(warps, n)));
    let widths = [(0, 2), (1, 2), (2, 2), (0, 1), (1, 4)];
    let operands =
        widths.iter().flat_map(|&(parent, width)| [0, 1].map(|index| dot_operand(index, &results[parent], width)));
    let operands = operands.collect();
    let batched: Vec<String> =
        [[1, 2, 2], [2, 2, 1], [2, 1, 2], [1, 4, 1]].iter().map(|warps| single(warps, &[1, 16, 8])).collect();
    let batched_operands =
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(index, parent)| dot_operand(index, &batched[parent], 2));
    MatrixLayouts { results, operands, batched_results: batched, batched_operands: batched_operands.to_vec() }
}

fn layouts() -> Vec<Row> {
    list(5, &matrix_layouts())
}

#[test]
fn the_list_is_what_its_function_makes() {
    check_kept(&layouts(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reductions.jsonl"));
}

#[test]
fn every_sum_is_right_and_nothing_is_stored_twice() {
    let [a, b] = TARGETS.map(|(name, _)| target(name));
    check_all(&layouts(), &[&a, &b]);
}

/// What Triton emits for a target, by the reduction's id.
fn of_triton(name: &str) -> HashMap<String, Value> {
    let rows = TRITON.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_target = rows.filter(|row| row["targets"].as_array().is_some_and(|all| all.iter().any(|one| one == name)));
    of_target.map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

/// Sums over the reductions of one kind: how many, how many Triton does not compile, and of the others
/// instructions for shared memory and slots, ours and Triton's.
#[derive(Debug, Default)]
struct Sums {
    reductions: u64,
    failed: u64,
    instructions: [f64; 2],
    slots: [f64; 2],
}

#[test]
fn none_takes_more_than_what_triton_emits() {
    let mut kinds: BTreeMap<(&str, &str), Sums> = BTreeMap::new();
    let mut dearer = Vec::new();
    for (name, called) in TARGETS {
        let (target, theirs) = (target(name), of_triton(called));
        for problem in problems(&layouts(), &target) {
            let row = &theirs[&problem.id];
            let accumulator = kinds.entry((called, problem.kind)).or_default();
            accumulator.reductions += 1;
            if row.get("fails").is_some() {
                accumulator.failed += 1;
                continue;
            }
            let count = |name: &str| row["counts"].get(name).and_then(Value::as_f64).unwrap_or(0.0);
            let counts = problem.plan.stats.counts;
            assert_eq!((counts.matrix_stores, counts.matrix_loads), (0, 0));
            let by_matrix = row["ops"].as_object().into_iter().flatten();
            let by_matrix = by_matrix.filter(|(name, _)| name.contains("matrix")).filter_map(|(_, n)| n.as_f64());
            let instructions = [
                (counts.shared_stores + counts.shared_loads) as f64,
                count("shared_stores") + count("shared_loads") + by_matrix.sum::<f64>(),
            ];
            let slots = [Tally::of_plan(&counts), Tally::of_triton(row, 32, 1)].map(|tally| tally.price(FROZEN));
            for side in 0..2 {
                accumulator.instructions[side] += instructions[side];
                accumulator.slots[side] += slots[side];
            }
            if slots[0] > slots[1] || instructions[0] > instructions[1] {
                dearer.push(format!("{} {} {}: {instructions:?}, {slots:?}", called, problem.kind, problem.id));
            }
        }
    }
    assert!(dearer.is_empty(), "reductions that take more than Triton's:\n{}", dearer.join("\n"));
    golden::check_section(&shared_data::workspace().join("docs/reductions.md"), "triton", &table(&kinds).join("\n"));
}

fn table(kinds: &BTreeMap<(&str, &str), Sums>) -> Vec<String> {
    let mut lines = vec![
        "| target | layouts | reductions | Triton fails | shared instructions, ours | Triton's | slots, ours | Triton's |"
            .to_owned(),
        "|---|---|--:|--:|--:|--:|--:|--:|".to_owned(),
    ];
    for ((target, kind), accumulator) in kinds {
        let Sums { reductions, failed, instructions: [ours, theirs], slots: [own, their] } = accumulator;
        lines.push(format!(
            "| {target} | {kind} | {reductions} | {failed} | {ours} | {theirs} | {own:.0} | {their:.0} |"
        ));
    }
    lines
}
