//! Reductions over the layouts that the Linear Layouts paper, Table 4, lists, for warps of 64 lanes and with this
//! vendor's matrix layouts: the results are correct, and no element is stored twice.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use std::path::Path;

use tilewright_vendor_testkit::reductions::{ListedLayout, MatrixLayouts, check_all, check_committed_list, list};

/// Returns results of `v_mfma_f32_32x32x8` and `v_mfma_f32_16x16x16`, plain and transposed, and the operands of these
/// instructions, over one to four warps.
fn matrix_layouts() -> MatrixLayouts {
    let result = |warps: &[u64], size: [u64; 3], transposed: bool| {
        format!(
            "#ttg.amd_mfma<{{version = 2, warpsPerCTA = {warps:?}, instrShape = {size:?}, \
             isTransposed = {transposed}}}>"
        )
    };
    let operand = |index: u64, parent: &str| format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = 4}}>");
    let (large, small) = ([32, 32, 8], [16, 16, 16]);
    let warps = [[4, 1], [2, 2], [1, 4], [2, 1], [1, 1]];
    let of_warps = |warps: &[u64; 2]| {
        [(large, false), (large, true), (small, false), (small, true)].map(|(size, t)| result(warps, size, t))
    };
    let results: Vec<String> = warps.iter().flat_map(of_warps).collect();
    let of_parent = |parent: &String| [0, 1].map(|index| operand(index, parent));
    let operands = [0, 2, 4, 6, 8].iter().flat_map(|&parent: &usize| of_parent(&results[parent])).collect();
    let batched: Vec<String> =
        [[1, 2, 2], [2, 2, 1], [2, 1, 2], [1, 4, 1]].iter().map(|warps| result(warps, small, true)).collect();
    let batched_operands = batched[..2].iter().flat_map(of_parent).collect();
    MatrixLayouts { results, operands, batched_results: batched, batched_operands }
}

fn layouts() -> Vec<ListedLayout> {
    list(6, &matrix_layouts())
}

#[test]
fn the_list_is_what_its_function_makes() {
    check_committed_list(&layouts(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reductions.jsonl"));
}

#[test]
fn every_sum_is_right_and_nothing_is_stored_twice() {
    let [a, b] = ["mi250", "mi300x"].map(target);
    check_all(&layouts(), &[&a, &b]);
}
