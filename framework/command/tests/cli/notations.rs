//! Tests that print one layout in every notation, and parse it back.

use crate::command;

use command::{batch, lines, run, tilewright};
use serde_json::{Value, json};

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

/// Returns the bases of a layout for a target, as JSON.
fn bases(layout: &str, shape: &str, target: &str) -> Value {
    let printed = run(tilewright().args(["layout", "--json", "--target", target, "--shape", shape, layout]));
    assert_eq!(printed.code, Some(0), "{layout}: {}", printed.err);
    serde_json::from_str(&printed.out).expect("JSON")
}

/// The images of the powers of two below `size`.
fn images(size: u64, element: impl Fn(u64) -> [u64; 2]) -> Value {
    json!((0..size.ilog2()).map(|bit| element(1 << bit)).collect::<Vec<_>>())
}

#[test]
fn task_mappings_and_thread_value_layouts_distribute_by_their_definition() {
    // Thread t does the tasks (16 v + t / 8, t % 8), v = 0, ..., 3; element (i, j) of 64 x 8 has the number i + 64 j.
    let task = |thread: u64, value: u64| [16 * value + thread / 8, thread % 8];
    for layout in ["repeat(4, 1) * spatial(16, 8)", "((8,16),4):((64,1),16)", "((8,16),(4,)):((64,1),(16,))"] {
        for (target, lanes) in [("a100", 32), ("mi300x", 64)] {
            let bases = &bases(layout, "64x8", target)["bases"];
            assert_eq!(bases["lane"], images(lanes, |lane| task(lane, 0)), "{layout} on {target}");
            assert_eq!(bases["warp"], images(128 / lanes, |warp| task(warp * lanes, 0)), "{layout} on {target}");
            assert_eq!(bases["register"], images(4, |value| task(0, value)), "{layout} on {target}");
        }
    }
    assert_eq!(written("cute", "repeat(4, 1) * spatial(16, 8)", "64x8"), "((8,16),4):((64,1),16)");
}

#[test]
fn swizzles_and_other_ranks_are_memory_layouts() {
    for layout in ["Swizzle<3,3,3> o 0 o (32,64):(64,1)", "Swizzle<0,4,3> o 0 o (32,64):(64,1)"] {
        let offsets = &bases(layout, "32x64", "a100")["bases"]["offset"];
        assert_eq!(offsets.as_array().map(Vec::len), Some(11), "{layout}");
    }
    assert_eq!(bases("64:1", "64", "a100")["bases"]["offset"][5], json!([32]));
}

#[test]
fn cute_layouts_are_inputs_of_pictures_plans_and_batches() {
    let (rows, columns) = ("((8,16),4):((64,1),16)", "spatial(64, 2) * repeat(1, 4)");
    for layout in [rows, columns] {
        let drawn = run(tilewright().args(["draw", "layout", "--shape", "64x8", layout]));
        assert_eq!(drawn.code, Some(0), "{}", drawn.err);
    }
    let shared = "(64,8):(8,1)";
    let convert = ["convert", "--target", "a100", "--shape", "64x8", "--element", "f16", rows, columns];
    let memory = ["access", "--target", "a100", "--shape", "64x8", "--element", "f16", columns, shared];
    for arguments in [&convert[..], &memory[..]] {
        let planned = run(tilewright().args(arguments));
        assert_eq!(planned.code, Some(0), "{arguments:?}: {}", planned.err);
    }
    let request = |src: &str, dst: &str| json!({"id": 0, "op": "convert", "target": "a100", "shape": [64, 8], "element_bits": 16, "src": src, "dst": dst});
    let blocked =
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let answers =
        batch(lines(&[request(rows, columns), request(rows, blocked), request(rows, "((8,16),2):((64,1),16)")]));
    assert_eq!(answers[0]["result"], answers[1]["result"], "{answers:?}");
    assert!(answers[0]["result"].is_object(), "{}", answers[0]);
    assert_eq!(answers[2]["error"]["code"], "bad_layout", "{}", answers[2]);
    let shown = batch(lines(&[json!({"id": 0, "op": "layout", "shape": [64, 8], "params": rows})]));
    assert_eq!(shown[0]["result"], bases(rows, "64x8", "a100"));
}

#[test]
fn layouts_of_other_tensors_are_rejected_with_both_sizes() {
    for layout in ["repeat(4, 1) * spatial(16, 8)", "((8,16),2):((64,1),16)"] {
        let printed = run(tilewright().args(["layout", "--shape", "32x16", layout]));
        assert!(printed.failed(2).contains("does not have each element of a tensor of 32x16"), "{}", printed.err);
    }
}

/// Checks tables and pictures of layouts that no linear layout is, against the definition: the sum of coordinate times
/// stride, with the first mode the fastest.
#[test]
fn layouts_without_a_linear_map_are_shown_by_their_values() {
    for (layout, shape, expected) in [
        ("(2,4):(-4,1)", "2x4", json!([0, -4, 1, -3, 2, -2, 3, -1])),
        ("(_2,_4):(_-4,_1)", "2x4", json!([0, -4, 1, -3, 2, -2, 3, -1])),
        ("(2,3):(3,1)", "2x3", json!([0, 3, 1, 4, 2, 5])),
        ("S<1,0,1> o 1 o (2,2):(2,1)", "2x2", json!([1, 2, 3, 4])),
        ("(2,2,2):(1@0,1@1,1@2)", "2x2x2", json!([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])),
        ("4:3", "4", json!([0, 3, 6, 9])),
    ] {
        let shown = |first: &[&str], last: &[&str]| {
            let printed = run(tilewright().args(first).args([layout, "--shape", shape]).args(last));
            assert_eq!(printed.code, Some(0), "{layout}: {}", printed.err);
            printed.out
        };
        let values: Value = serde_json::from_str(&shown(&["layout"], &["--json"])).expect("JSON");
        let listed = values["values"].as_array().expect("a list");
        let expected = expected.as_array().expect("a list");
        assert_eq!(&listed[..expected.len()], expected, "{layout}");
        let (table, picture) = (shown(&["layout"], &[]), shown(&["draw", "layout"], &[]));
        assert!(table.contains("no linear layout: ") && picture.contains("no linear layout: "), "{table}{picture}");
        for value in listed.iter().map(|value| value.to_string().replace('[', "(").replace(']', ")")) {
            assert!(table.contains(&value) && picture.contains(&value), "{layout}, {value}: {table}{picture}");
        }
        let options = ["--shape", shape, "--element", "f16", "--target", "h100"];
        let converted = run(tilewright().args(["convert", layout, layout]).args(options));
        assert_eq!(converted.code, Some(2), "{layout} has no linear map");
    }
}

#[test]
fn basis_strides_name_the_element_of_a_thread_and_value() {
    let by_coordinates = written("linear", "((4,8),2):((1@1,1@0),4@1)", "8x8");
    assert_eq!(by_coordinates, written("linear", "((4,8),2):((8,1),32)", "8x8"));
}

#[test]
fn texts_of_printed_cute_layouts_are_read() {
    let swizzled = "Swizzle<3,3,3> o 0 o (8,64):(64,1)";
    for text in ["S<3,3,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,3,3> o smem_ptr[16b](0x7f00) o (8,64):(64,1)"] {
        assert_eq!(written("cute", text, "8x64"), swizzled, "{text}");
    }
    let composed = run(tilewright().args(["layout", "op", "cute.composition", "(4,8):(-8,1)", "8:2"]));
    assert_eq!((composed.code, composed.out.trim()), (Some(0), "(2,4):(-16,1)"), "{}", composed.err);
}
