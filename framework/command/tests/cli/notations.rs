//! Tests that print one layout in every notation, and parse it back.

use crate::command;

use command::{run, tilewright};

const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";

fn written(notation: &str, layout: &str, shape: &str) -> String {
    let printed = run(tilewright().args(["layout", "--as", notation, "--shape", shape, layout]));
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    printed.out.trim_end().to_owned()
}

#[test]
fn a_blocked_layout_in_every_notation() {
    let json = written("json", ROWS, "8x8");
    let expected =
        r#"{"kind":"blocked","order":[1,0],"size_per_thread":[1,2],"threads_per_warp":[8,4],"warps_per_cta":[1,1]}"#;
    assert_eq!(json, expected);
    assert_eq!(written("text", &json, "8x8"), ROWS);
    let bases =
        "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>";
    assert_eq!(written("linear", ROWS, "8x8"), bases);
    assert_eq!(written("text", bases, "8x8"), bases);
    assert_eq!(written("cute", ROWS, "8x8"), "((4,8),2):((16,1),8)");
}

#[test]
fn a_memory_layout_in_every_notation() {
    let padded = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>";
    for notation in ["text", "linear"] {
        assert_eq!(written(notation, padded, "32x64"), padded);
    }
    assert_eq!(written("cute", padded, "32x64"), "(32,64):(72,1)");
    let swizzled = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 2, order = [1, 0]}>";
    let bases = "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 2], [2, 0]]}, alignment = 16>";
    assert_eq!(written("linear", swizzled, "4x4"), bases);
    assert_eq!(written("cute", swizzled, "4x4"), "Swizzle<1,1,1> o 0 o (4,4):(4,1)");
}

#[test]
fn a_layout_given_by_its_bases_has_a_text_too() {
    let bases = run(tilewright().args(["layout", "--json", "--shape", "8x8", ROWS])).out;
    assert_eq!(written("text", bases.trim(), "8x8"), written("linear", ROWS, "8x8"));
}

#[test]
fn bases_are_shown_by_the_kind_that_their_dims_determine() {
    let layout = |dims: &str, bases: &str| {
        format!(r#"{{"in_dims": [{dims}], "out_dims": [["dim0", 2], ["dim1", 2]], "bases": {{{bases}}}}}"#)
    };
    let table = |layout: &str| -> Vec<String> {
        let printed = run(tilewright().args(["layout", "--shape", "2x2", layout]));
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        let table = printed.out.split("\n\n").nth(1).expect("a table after the bases");
        table.split_whitespace().map(str::to_owned).collect()
    };
    let in_memory = layout(r#"["offset", 4]"#, r#""offset": [[0, 1], [1, 1]]"#);
    assert_eq!(table(&in_memory), ["offset", "0", "1", "0", "0", "1", "1", "3", "2"]);
    assert_eq!(written("linear", &in_memory, "2x2"), "#ttg.shared_linear<{offset = [[0, 1], [1, 1]]}>");
    let in_tensor_memory = layout(r#"["row", 2], ["col", 2]"#, r#""row": [[1, 0]], "col": [[1, 1]]"#);
    assert_eq!(table(&in_tensor_memory), ["row:col", "0", "1", "0", "0:0", "1:1", "1", "1:0", "0:1"]);
}

#[test]
fn inexpressible_layouts_are_rejected_with_a_reason() {
    let both = "#ttg.padded_shared<[4:+4] {offset = [[0, 1], [0, 2], [1, 0]], block = [[2, 0]]}>";
    let printed = run(tilewright().args(["layout", "--as", "cute", "--shape", "4x4", both]));
    assert!(printed.failed(2).contains("it is in the memories of several blocks"), "{}", printed.err);
}
