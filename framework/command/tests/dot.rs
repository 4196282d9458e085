//! What is said of dots.

mod command;

use command::{run, tilewright};
use serde_json::Value as Json;

const SQUARE: [&str; 7] = ["dot", "--m", "64", "--n", "64", "--k", "64"];
const HALVES: [&str; 6] = ["--a", "f16", "--b", "f16", "--acc", "f32"];

#[test]
fn a_plan_and_the_ways_that_were_weighed() {
    let said = run(tilewright().args(SQUARE).args(HALVES).args(["--target", "mi250", "--explain"]));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.starts_with("by v_mfma_f32_"), "{}", said.out);
    for words in ["warps 2 x 2", "registers of 32 bits a lane", "multiply-adds", "several independent blocks"] {
        assert!(said.out.contains(words), "no `{words}` in {}", said.out);
    }
    let ways: Vec<_> = said.out.lines().skip_while(|line| !line.trim_start().starts_with("unit")).skip(1).collect();
    let cycles: Vec<f64> =
        ways.iter().take_while(|line| !line.starts_with("closed")).filter_map(|line| cycles(line)).collect();
    assert!(cycles.len() > 4 && cycles.is_sorted(), "{}", said.out);
}

/// The fifth column from the end but two: unit, (transposed), warps, chunk, cycles, four more, issues, registers.
fn cycles(line: &str) -> Option<f64> {
    line.split_whitespace().rev().nth(5)?.parse().ok()
}

#[test]
fn the_same_as_json() {
    let said = run(tilewright().args(SQUARE).args(HALVES).args(["--target", "a100", "--json", "--k-width", "4"]));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let plan: Json = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(plan["unit"], "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    assert_eq!((&plan["warps"], &plan["k_width"]), (&serde_json::json!([2, 2]), &4.into()));
    // 64 x 64 x 64 over 16 x 8 x 16 and four warps.
    assert_eq!(plan["issues"], 4 * 8 * 4 / 4);
}

#[test]
fn code_as_kernel_and_as_assembly() {
    let of = |form: &str| run(tilewright().args(SQUARE).args(HALVES).args(["--target", "a100", "--emit", form]));
    assert!(of("kernel").out.contains("instruction \"mma.sync"));
    assert!(of("asm").out.contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
}

#[test]
fn bad_questions_are_refused_with_what_to_do() {
    let of = |types: &[&str]| run(tilewright().args(SQUARE).args(types).args(["--target", "a100"]));
    assert!(of(&["--a", "f17", "--b", "f16", "--acc", "f32"]).failed(2).contains("known are f64, f32"));
    let no_sum = of(&["--a", "i32", "--b", "f16", "--acc", "f32"]);
    assert!(no_sum.failed(2).contains("has not all values of s32"), "{}", no_sum.err);
}
