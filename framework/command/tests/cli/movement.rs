//! Tests of `tilewright reduce`, `scan`, `gather`, `access` and `convert --draw`: operation counts as text, as JSON and
//! by `batch`, code, pictures, and rejected input.

use crate::command;

use command::{batch, lines, run, tilewright};
use serde_json::{Value as Json, json};

const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [1, 0]}>";
const COLUMNS: &str =
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [2, 2], order = [0, 1]}>";
const SWIZZLED: &str = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
const OF_TENSOR: [&str; 6] = ["--target", "h100", "--shape", "64x64", "--element", "f32"];

fn printed(command: &[&str]) -> String {
    run(tilewright().args(command).args(OF_TENSOR)).ok().to_owned()
}

fn refused(command: &[&str]) -> String {
    run(tilewright().args(command).args(OF_TENSOR)).failed(2).to_owned()
}

fn json(command: &[&str]) -> Json {
    serde_json::from_str(&printed(&[command, &["--json"]].concat())).expect("one line of JSON")
}

#[test]
fn a_batch_answers_as_the_commands_do() {
    let request = |op: &str, more: Json| {
        let mut request = json!({ "id": op, "op": op, "target": "h100", "shape": [64, 64], "element_bits": 32 });
        request.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        request
    };
    let requested = [
        (vec!["convert", ROWS, COLUMNS], request("convert", json!({ "src": ROWS, "dst": COLUMNS }))),
        (vec!["reduce", ROWS, "--axis", "1"], request("reduce", json!({ "src": ROWS, "axis": 1 }))),
        (vec!["scan", ROWS, "--axis", "0"], request("scan", json!({ "src": ROWS, "axis": 0 }))),
        (
            vec!["scan", ROWS, "--axis", "0", "--reverse"],
            request("scan", json!({ "src": ROWS, "axis": 0, "reverse": true })),
        ),
        (
            vec!["gather", ROWS, ROWS, "--axis", "1"],
            request("gather", json!({ "src": ROWS, "indices": ROWS, "axis": 1 })),
        ),
        (
            vec!["gather", ROWS, ROWS, "--axis", "1", "--index-shape", "64x16"],
            request("gather", json!({ "src": ROWS, "indices": ROWS, "axis": 1, "index_shape": [64, 16] })),
        ),
        (vec!["access", ROWS, SWIZZLED], request("access", json!({ "registers": ROWS, "memory": SWIZZLED }))),
        (vec!["access", ROWS], request("access", json!({ "registers": ROWS }))),
        (
            vec!["access", ROWS, "--order", "0,1", "--alignment", "4"],
            request("access", json!({ "registers": ROWS, "order": [0, 1], "alignment": 4 })),
        ),
    ];
    let answers = batch(lines(&requested.each_ref().map(|(_, request)| request.clone())));
    assert_eq!(answers.len(), requested.len());
    for ((command, request), answer) in requested.iter().zip(&answers) {
        assert_eq!(answer, &json!({ "id": request["op"], "result": json(command) }), "{command:?}");
    }
}

/// Operation counts equal those derived by hand: 64x64 words over four warps. A lane holds four words of a row and 16
/// lanes the whole row, so neighbouring warps hold replicas of a row's result; along a column two lanes and two warps
/// hold parts.
#[test]
fn stats_match_the_layouts() {
    let along_rows = json(&["reduce", ROWS, "--axis", "1"]);
    // A warp has whole rows. It may return the results to its lanes through shared memory, but need not.
    assert_eq!(along_rows["bound"]["wavefronts_stored"], json!(0), "{along_rows}");
    assert!((4..=4 * 16).contains(&along_rows["exchanges"].as_u64().expect("a count")), "{along_rows}");
    let sum = json(&["reduce", ROWS, "--axis", "0"]);
    assert_eq!(sum["barriers"], 1, "two warps hold parts of each column: {sum}");
    assert!((1..=4 + 4).contains(&sum["exchanges"].as_u64().expect("a count")), "{sum}");
    assert_eq!(sum["layout"]["out_dims"], json!([["dim0", 64]]), "one axis is left: {sum}");
    // 16 lanes of 16 bytes cover a row, a warp two rows, and two warps all 64 in sixteen accesses. The other two warps
    // load the replicas, and store nothing.
    let memory = json(&["access", ROWS]);
    assert_eq!((&memory["load"]["vector_elements"], &memory["load"]["accesses"]), (&json!(4), &json!(16)), "{memory}");
    let units = 64 * 64 * 4 / 32;
    assert_eq!((&memory["store"]["transactions"], &memory["load"]["transactions"]), (&json!(units), &json!(2 * units)));
    let down = json(&["access", ROWS, "--order", "0,1"]);
    assert_eq!(down["load"]["vector_elements"], 1, "neighbours of a lane are far apart: {down}");
    // Pairs of tensors take twice the counts of one.
    let of_pairs = run(tilewright().args(["reduce", ROWS, "--axis", "0", "--json"]).args([
        "--target",
        "h100",
        "--shape",
        "64x64",
        "--element",
        "f32,i32",
    ]));
    let of_pairs = of_pairs.json();
    assert_eq!(of_pairs["wavefronts_stored"].as_u64(), sum["wavefronts_stored"].as_u64().map(|count| 2 * count));
}

#[test]
fn conversion_candidates_are_explained() {
    let text = printed(&["reduce", ROWS, "--axis", "0", "--explain"]);
    for phrase in ["several warps have parts of it", "per warp", "candidates, by", "chosen: ", "times the cycles"] {
        assert!(text.contains(phrase), "no `{phrase}`: {text}");
    }
    let text = printed(&["gather", ROWS, ROWS, "--axis", "0", "--explain"]);
    assert!(text.contains("rejected: warps need elements of other warps"), "{text}");
    assert!(text.contains("the mean over random indices is"), "{text}");
}

#[test]
fn kernels_are_emitted() {
    let commands: [(&[&str], &str); 5] = [
        (&["reduce", ROWS, "--axis", "1"], "reduce"),
        (&["scan", ROWS, "--axis", "1"], "scan"),
        (&["gather", ROWS, ROWS, "--axis", "1"], "gather"),
        (&["access", ROWS, SWIZZLED], "store"),
        (&["access", ROWS], "copy"),
    ];
    for (command, name) in commands {
        let text = printed(&[command, &["--emit", "kernel"]].concat());
        assert!(text.contains(&format!("kernel @{name}")) || text.contains(name), "{text}");
        let code = printed(&[command, &["--emit", "asm"]].concat());
        assert!(code.contains(&format!(".entry {name}")), "{code}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("reduce.ptx");
    let out = printed(&["reduce", ROWS, "--axis", "1", "--emit", "asm", "-o", file.to_str().expect("a path")]);
    assert_eq!(out, "");
    assert!(std::fs::read_to_string(&file).expect("code").contains(".entry reduce"));
}

/// `convert --draw` prints the same picture as `draw conversion`.
#[test]
fn a_conversion_is_drawn_with_its_banks() {
    let picture = printed(&["convert", ROWS, COLUMNS, "--draw"]);
    assert_eq!(picture, printed(&["draw", "conversion", ROWS, COLUMNS]));
    for phrase in ["wavefront", "bank", "scratch"] {
        assert!(picture.contains(phrase), "no `{phrase}`: {picture}");
    }
    let both = printed(&["convert", ROWS, COLUMNS, "--draw", "--explain"]);
    assert!(both.contains("candidates, by") && both.ends_with(&picture), "{both}");
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["picture.svg", "picture.html"] {
        let file = folder.path().join(name);
        assert_eq!(printed(&["convert", ROWS, COLUMNS, "--draw", "-o", file.to_str().expect("a path")]), "");
        assert!(std::fs::read_to_string(&file).expect("a picture").contains("wavefront"), "{name}");
    }
}

#[test]
fn refusals_say_what_to_do() {
    let cases: [(&[&str], &str); 7] = [
        (&["reduce", ROWS, "--axis", "2"], "--axis 2: a tensor of 64x64 has the axes 0 to 1"),
        (&["scan", "#ttg.blocked<{", "--axis", "0"], "LAYOUT"),
        (&["gather", ROWS, ROWS, "--axis", "0", "--index-shape", "64x32"], "dim1"),
        (&["access", ROWS, ROWS], "MEMORY: no layout of shared memory"),
        (&["access", ROWS, "--order", "0,0"], "--order: expected each of the axes 0 to 1 once"),
        (&["convert", ROWS, COLUMNS, "-o", "picture.svg"], "add --draw"),
        (&["convert", ROWS, COLUMNS, "--draw", "-o", "picture.png"], "a picture is a .svg or a .html file"),
    ];
    for (command, message) in cases {
        let printed = refused(command);
        assert!(printed.contains(message), "{command:?}: {printed}");
    }
    let answers = batch(lines(&[
        json!({ "id": 1, "op": "reduce", "target": "h100", "src": ROWS, "shape": [64, 64], "element_bits": 32 }),
        json!({ "id": 2, "op": "reduce", "target": "h100", "src": ROWS, "shape": [64, 64], "element_bits": 12, "axis": 0 }),
        json!({ "id": 3, "op": "scan", "target": "h900", "src": ROWS, "shape": [64, 64], "element_bits": 32, "axis": 0 }),
        json!({ "id": 4, "op": "access", "target": "h100", "registers": ROWS, "shape": [64, 64], "element_bits": 32, "order": [1] }),
        json!({ "id": 5, "op": "reduce", "target": "h100", "src": ROWS, "shape": [64, 64], "element_bits": 32, "axis": 0, "axes": 1 }),
    ]));
    let codes: Vec<&Json> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes[..4], ["bad_request", "bad_request", "unknown_target", "bad_request"], "{answers:?}");
    assert_eq!(answers[4]["ignored"], json!(["axes"]));
}

/// The layout of a reduction's result is one that a conversion takes, and its kernel adds floats as floats.
#[test]
fn a_reduction_gives_a_layout_and_a_sum_of_the_element_type() {
    let rows = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let columns = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    for axis in [0, 1] {
        let reduce = json!({
            "id": 1, "op": "reduce", "target": "h100", "src": rows, "shape": [64, 64], "axis": axis, "element_bits": 32,
        });
        let answer = &batch(lines(&[reduce]))[0];
        let convert = json!({
            "id": 2, "op": "convert", "target": "h100", "src": answer["result"]["layout"], "dst": columns, "shape": [64],
            "element_bits": 32,
        });
        let answer = &batch(lines(&[convert]))[0];
        assert!(answer["result"].is_object(), "{answer}");
    }
    let kernel = |operation: &str, element: &str| {
        let arguments = [operation, rows, "--shape", "64x64", "--target", "h100", "--axis", "1", "--emit", "kernel"];
        run(tilewright().args(arguments).args(["--element", element])).ok().to_owned()
    };
    for operation in ["reduce", "scan"] {
        for (element, is_float) in [("f32", true), ("bf16", true), ("i32", false), ("32", false)] {
            let text = kernel(operation, element);
            assert_eq!(text.contains("f_add"), is_float, "{operation} of {element}:\n{text}");
        }
    }
}
