//! Tests of the output of `tilewright dot`.

use crate::command;

use command::{run, tilewright};

const SQUARE: [&str; 7] = ["dot", "--m", "64", "--n", "64", "--k", "64"];
const F16_OPERANDS: [&str; 6] = ["--a", "f16", "--b", "f16", "--acc", "f32"];

#[test]
fn a_plan_and_the_candidates_are_printed() {
    let printed = run(tilewright().args(SQUARE).args(F16_OPERANDS).args(["--target", "mi250", "--explain"]));
    assert!(printed.ok().starts_with("by v_mfma_f32_"), "{}", printed.out);
    for words in ["warps 2 x 2", "registers of 32 bits a lane", "multiply-adds", "several independent blocks"] {
        assert!(printed.out.contains(words), "no `{words}` in {}", printed.out);
    }
    let candidates: Vec<_> =
        printed.out.lines().skip_while(|line| !line.trim_start().starts_with("unit")).skip(1).collect();
    let cycles: Vec<f64> =
        candidates.iter().take_while(|line| !line.starts_with("rejected")).filter_map(|line| cycles(line)).collect();
    assert!(cycles.len() > 4 && cycles.is_sorted(), "{}", printed.out);
}

/// Returns the column `cycles` of a line of candidates, which is the sixth column from the right.
fn cycles(line: &str) -> Option<f64> {
    line.split_whitespace().rev().nth(5)?.parse().ok()
}

#[test]
fn the_same_as_json() {
    let plan =
        run(tilewright().args(SQUARE).args(F16_OPERANDS).args(["--target", "a100", "--json", "--k-width", "4"])).json();
    assert_eq!(plan["unit"], "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    assert_eq!((&plan["warps"], &plan["k_width"]), (&serde_json::json!([2, 2]), &4.into()));
    // 64 x 64 x 64 over 16 x 8 x 16 and four warps.
    assert_eq!(plan["issues"], 4 * 8 * 4 / 4);
}

#[test]
fn code_as_kernel_and_as_assembly() {
    let of = |form: &str| run(tilewright().args(SQUARE).args(F16_OPERANDS).args(["--target", "a100", "--emit", form]));
    assert!(of("kernel").out.contains("instruction \"mma.sync"));
    assert!(of("asm").out.contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
}

#[test]
fn scaled_operands_are_planned_and_lowered() {
    let scaled = ["--a", "e2m1", "--b", "e4m3", "--acc", "f32", "--scale-a", "e8m0", "--scale-b", "e8m0"];
    let of = |more: &[&str]| run(tilewright().args(SQUARE).args(scaled).args(more));
    let printed = of(&["--target", "mi355x"]);
    assert!(printed.out.starts_with("by v_mfma_scale_f32_"), "{}{}", printed.out, printed.err);
    for words in ["scale_a: ", "scale_b: ", "bytes a warp"] {
        assert!(printed.out.contains(words), "no `{words}` in {}", printed.out);
    }
    let plan = of(&["--target", "a100", "--json"]).json();
    assert_eq!(plan["unit"], "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    assert!(plan["scale_a"].is_object() && plan["scale_b"].is_object());
    assert!(of(&["--target", "a100", "--emit", "kernel"]).out.contains("scale_b: ptr.global"));
    assert!(of(&["--target", "a100", "--shuffled", "b"]).out.contains("K permutation of memory"));
    let near = ["--target", "a100", "--scale-exponents", "-6", "6"];
    assert!(of(&near).out.contains(".f32.f16.f16.f32"), "{}", of(&near).out);
}

#[test]
fn scales_that_are_none_are_refused() {
    let of = |more: &[&str]| run(tilewright().args(SQUARE).args(["--acc", "f32", "--target", "a100"]).args(more));
    let no_type = of(&["--a", "e2m1", "--b", "f16", "--scale-a", "e4m3"]);
    assert!(no_type.failed(2).contains("known are e8m0, ue4m3"), "{}", no_type.err);
    let wide = of(&["--a", "f16", "--b", "f16", "--scale-a", "e8m0"]);
    assert!(wide.failed(2).contains("elements of at most eight bits"), "{}", wide.err);
    let block = of(&["--a", "e2m1", "--b", "f16", "--scale-a", "e8m0", "--scale-block", "24"]);
    assert!(block.failed(2).contains("24 is not a tile size"), "{}", block.err);
    assert!(of(&["--a", "e8m0", "--b", "f16"]).failed(2).contains("not an element type of a dot"));
}

#[test]
fn invalid_types_are_rejected_with_a_remedy() {
    let of = |types: &[&str]| run(tilewright().args(SQUARE).args(types).args(["--target", "a100"]));
    assert!(of(&["--a", "f17", "--b", "f16", "--acc", "f32"]).failed(2).contains("known are f64, f32"));
    let no_sum = of(&["--a", "i32", "--b", "f16", "--acc", "f32"]);
    assert!(no_sum.failed(2).contains("lacks some values of s32"), "{}", no_sum.err);
}
