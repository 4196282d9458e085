//! Sums over layouts of all kinds (Linear Layouts paper, Table 4): the results are correct, no element is stored twice,
//! and no sum is slower than Triton's code by the cost model.

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tilewright_plan::cost::WarpWork;
use tilewright_target::Optimization;
use tilewright_vendor_testkit::prices::tally::{OPERATION_PRICES, Tally, counts_of_triton};
use tilewright_vendor_testkit::reductions::{
    ListedLayout, MatrixLayouts, check_all, check_committed_list, list, plan_all,
};

/// Counts of Triton's code for the same sums, written by `conformance/peers/reductions_beside_triton.py`.
const TRITON: &str = include_str!("../data/reductions_triton.jsonl");
/// The targets of this test, with Triton's names for them.
const TARGETS: [(&str, &str); 2] = [("a100", "cuda:80"), ("h100", "cuda:90")];

/// Returns layouts over one to eight warps: results of `mma.sync` (version 2) and of warpgroup MMAs (version 3), and
/// register operands.
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

fn layouts() -> Vec<ListedLayout> {
    list(5, &matrix_layouts())
}

#[test]
fn the_list_is_what_its_function_makes() {
    check_committed_list(&layouts(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reductions.jsonl"));
}

#[test]
fn every_sum_is_right_and_nothing_is_stored_twice() {
    let [a, b] = TARGETS.map(|(name, _)| target(name));
    check_all(&layouts(), &[&a, &b]);
}

/// Returns Triton's counts for a target, by the reduction's id.
fn of_triton(name: &str) -> HashMap<String, Value> {
    let rows = TRITON.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_target = rows.filter(|row| row["targets"].as_array().is_some_and(|all| all.iter().any(|one| one == name)));
    of_target.map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

/// Totals over the reductions of one kind: their number and the number that Triton fails to compile; for the others,
/// shared-memory instructions and wavefronts, this project's and Triton's.
#[derive(Debug, Default)]
struct Totals {
    reductions: u64,
    failed: u64,
    instructions: [f64; 2],
    wavefront_prices: [f64; 2],
}

#[test]
fn none_is_slower_than_what_triton_emits() {
    let mut kinds: BTreeMap<(&str, &str), Totals> = BTreeMap::new();
    let mut slower = Vec::new();
    for (name, called) in TARGETS {
        let (target, theirs) = (target(name), of_triton(called));
        for problem in plan_all(&layouts(), &target) {
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
            let wavefront_prices =
                [Tally::of_plan(&counts), Tally::of_triton(row, 32, 1)].map(|tally| tally.price(OPERATION_PRICES));
            for side in 0..2 {
                accumulator.instructions[side] += instructions[side];
                accumulator.wavefront_prices[side] += wavefront_prices[side];
            }
            let warps = 1 << problem.src.in_bits(Dim::WARP);
            // The price excludes the latency of the chain of operations, which is unknown for Triton's code. In
            // Triton's code, a combining operation follows each shuffle.
            let of_counts = |counts: &Counts| {
                let instructions = counts.shuffles as f64;
                let work = WarpWork { instructions, ..WarpWork::from_counts(*counts, 0) };
                work.block_cycles(warps, target.description())
            };
            let cycles = [of_counts(&counts), of_counts(&counts_of_triton(row, 32, 1))];
            if cycles[0] > cycles[1] {
                slower.push(format!("{} {} {}: {instructions:?}, {cycles:?}", called, problem.kind, problem.id));
            }
        }
    }
    assert!(slower.is_empty(), "reductions that are slower than Triton's:\n{}", slower.join("\n"));
    golden::check_section(&shared_data::workspace().join("docs/reductions.md"), "triton", &table(&kinds).join("\n"));
}

fn table(kinds: &BTreeMap<(&str, &str), Totals>) -> Vec<String> {
    let mut lines = vec![
        "| target | layouts | reductions | Triton fails | shared instructions, ours | Triton's | slots, ours | Triton's |"
            .to_owned(),
        "|---|---|--:|--:|--:|--:|--:|--:|".to_owned(),
    ];
    for ((target, kind), accumulator) in kinds {
        let Totals { reductions, failed, instructions: [ours, theirs], wavefront_prices: [own, their] } = accumulator;
        lines.push(format!(
            "| {target} | {kind} | {reductions} | {failed} | {ours} | {theirs} | {own:.0} | {their:.0} |"
        ));
    }
    lines
}

/// Returns the number of fused multiply-adds in a kernel where a lane has eight elements `x`; `body` computes `%sum` from
/// them.
fn count_fused(body: &str, disabled: Option<Optimization>) -> usize {
    let text = format!(
        "#b = #ttg.blocked<{{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}}>
         module attributes {{\"ttg.num-warps\" = 1 : i32, \"ttg.num-ctas\" = 1 : i32, ttg.target = \"cuda:90\",
                             \"ttg.threads-per-warp\" = 32 : i32}} {{
         tt.func public @f(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>) {{
           %range = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32, #b>
           %base = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #b>
           %from = tt.addptr %base, %range : tensor<256x!tt.ptr<f32>, #b>, tensor<256xi32, #b>
           %x = tt.load %from : tensor<256x!tt.ptr<f32>, #b>
           {body}
           tt.store %out, %sum : !tt.ptr<f32>
           tt.return
         }} }}"
    );
    let (target, dialects, imports) =
        (target("h100"), tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let options = ProgramOptions::default().with_disabled(disabled.into_iter().collect());
    let kernel =
        compiler.compile_kernel(&text, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}: {text}"));
    kernel.body.statements.iter().filter(|statement| matches!(statement.op, Op::Fma { .. })).count()
}

/// Reduces `%v` by a sum or, by `arith.maximumf`, to the greatest element.
fn reduce_by(operation: &str) -> String {
    format!(
        "%sum = \"tt.reduce\"(%v) <{{axis = 0 : i32}}> ({{
         ^bb0(%a: f32, %b: f32):
           %c = {operation} %a, %b : f32
           tt.reduce.return %c : f32
         }}) : (tensor<256xf32, #b>) -> f32"
    )
}

#[test]
fn a_sum_of_products_multiplies_and_adds_at_once() {
    const SQUARES: &str = "%v = arith.mulf %x, %x : tensor<256xf32, #b>";
    const STORED: &str = "tt.store %from, %v : tensor<256x!tt.ptr<f32>, #b>";
    let sum = reduce_by("arith.addf");
    // The first of a lane's eight products is not added to anything; a product with another use is computed anyway.
    assert_eq!(count_fused(&format!("{SQUARES}\n{sum}"), None), 7);
    assert_eq!(count_fused(&format!("{SQUARES}\n{sum}"), Some(Optimization::FusedMultiplyAdd)), 0);
    assert_eq!(count_fused(&format!("{SQUARES}\n{STORED}\n{sum}"), None), 0);
    assert_eq!(count_fused(&format!("{SQUARES}\n{}", reduce_by("arith.maximumf")), None), 0);
}
