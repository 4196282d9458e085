//! Tests of `tilewright batch`: answers in the order of the lines. Layouts of all families, operations on layouts and
//! bank conflicts are compared with known answers (`data/layouts.jsonl`; the executable `external` requests all of
//! them).

use crate::command;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use command::{batch, json_lines, lines, run, tilewright};
use serde_json::{Value as Json, json};
use tilewright_testkit::known_answers::{Answers, rows};

pub const ROWS: &str = include_str!("../data/layouts.jsonl");
const ALGEBRA: &str = include_str!("../../../layout/tests/data/algebra.jsonl");
const CONFLICTS: &str = include_str!("../data/bank_conflicts.jsonl");

/// Layout families whose known layouts must all be reproduced; for other families, an error is an answer too.
const SERVED: [&str; 12] = [
    "blocked",
    "slice",
    "linear",
    "nvidia_mma",
    "dot_operand",
    "nvmma_shared",
    "amd_mfma",
    "amd_wmma",
    "dpas",
    "swizzled_shared",
    "padded_shared",
    "shared_linear",
];

fn kinds(params: &Json) -> Vec<&str> {
    let own = params["kind"].as_str().expect("a kind");
    let mut kinds = params.get("parent").map(kinds).unwrap_or_default();
    kinds.push(own);
    kinds
}

/// Requests the layout of every row of known answers and returns how many were right; panics at a wrong one.
pub fn all_as_expected(rows: &[Json]) -> usize {
    let requested =
        rows.iter().map(|row| json!({"id": row["id"], "op": "layout", "params": row["params"], "shape": row["shape"]}));
    let answers = batch(lines(&requested.collect::<Vec<_>>()));
    assert_eq!(answers.len(), rows.len());
    let mut right = 0;
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(answer["id"], row["id"], "in order");
        let served = kinds(&row["params"]).iter().all(|kind| SERVED.contains(kind));
        match answer.get("result") {
            Some(result) => same(result, &row["expected"], row),
            None => assert!(!served && answer["error"]["code"] == "bad_layout", "{answer}\nfor {row}"),
        }
        right += usize::from(answer.get("result").is_some());
    }
    right
}

/// Checks that a result has every expected field; of physical offsets only a sample is expected.
fn same(result: &Json, expected: &Json, row: &Json) {
    let mut found = result.clone();
    if let Some(sample) = expected.get("physical_offsets") {
        let sample = sample.as_array().expect("a list");
        let listed = result["physical_offsets"].as_array().expect("a list");
        assert!(sample.iter().all(|entry| listed.contains(entry)), "{listed:?}\nfor {row}");
        found["physical_offsets"] = expected["physical_offsets"].clone();
    }
    assert_eq!(&found, expected, "for {row}");
}

#[test]
fn layouts_of_every_family_are_as_known() {
    let rows = rows(ROWS);
    for kind in SERVED {
        assert!(rows.iter().any(|row| kinds(&row["params"]).contains(&kind)), "no row of {kind}");
    }
    assert!(rows.iter().any(|row| row["expected"].get("physical_offsets").is_some()));
    assert_eq!(all_as_expected(&rows), rows.len());
}

/// Operations of the layout algebra give the known result, or an error if none exists.
#[test]
fn operations_on_layouts_are_as_known() {
    check_operations_on_layouts_are_as_known(Answers::Sample);
}

pub fn check_operations_on_layouts_are_as_known(known: Answers) {
    let rows = known.rows(ALGEBRA, "oracle/algebra.jsonl");
    let requested = rows.iter().map(|row| json!({"id": row["id"], "op": row["op"], "inputs": row["inputs"]}));
    let answers = batch(lines(&requested.collect::<Vec<_>>()));
    assert_eq!(answers.len(), rows.len());
    let mut refused = 0;
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(answer["id"], row["id"], "in order");
        match row.get("expected_error") {
            Some(reason) => assert_eq!(answer["error"]["code"], "undefined", "{answer}\nrefused elsewhere: {reason}"),
            None => assert_eq!(answer["result"], row["expected"], "{answer}\nfor {row}"),
        }
        refused += usize::from(row.get("expected_error").is_some());
    }
    assert!(refused > 0 && refused < rows.len());
}

/// Bank conflicts on 32 banks of four bytes equal the counts obtained by listing addresses.
#[test]
fn bank_conflicts_are_as_counted() {
    check_bank_conflicts_are_as_counted(Answers::Sample);
}

pub fn check_bank_conflicts_are_as_counted(known: Answers) {
    let rows = known.rows(CONFLICTS, "oracle/bank_conflicts.jsonl");
    let mut requested = Vec::new();
    for row in &rows {
        let mut request = json!({"id": row["id"], "op": "bank_conflicts"});
        for key in ["distributed", "shared", "shape", "element_bits", "num_warps"] {
            request[key] = row[key].clone();
        }
        requested.push(request.clone());
        // A target with such banks; families by their parameters.
        request["target"] = json!("h100");
        request["distributed"] = row["distributed"]["params"].clone();
        request["shared"] = row["shared"]["params"].clone();
        requested.push(request);
    }
    let answers = batch(lines(&requested));
    assert_eq!(answers.len(), 2 * rows.len());
    for (row, pair) in rows.iter().zip(answers.chunks(2)) {
        let expected = json!({"excess": row["enumerated"]});
        assert_eq!((&pair[0]["result"], &pair[1]["result"]), (&expected, &expected), "{pair:?}\nfor {row}");
    }
    assert!(rows.iter().any(|row| row["enumerated"] != 0) && rows.iter().any(|row| row["enumerated"] == 0));
}

/// Eight rows of 32 words, read by columns, lie in one bank, unless padding spreads them over the banks.
#[test]
fn padding_spreads_over_the_banks() {
    let requested = |padding: Json| {
        json!({
            "id": 1, "op": "bank_conflicts", "shape": [8, 32], "element_bits": 32,
            "distributed": blocked_by([8, 4], [1, 1], [0, 1]),
            "shared": {"kind": "padded_shared", "interval_padding_pairs": padding, "shape": [8, 32], "offset_bases": [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]},
        })
    };
    let answers = batch(lines(&[requested(json!([[32, 4]])), requested(json!([[128, 4]]))]));
    let excess: Vec<_> = answers.iter().map(|answer| &answer["result"]["excess"]).collect();
    // Lane 8c + r reads word (r, c). With the padding `[32, 4]` successive rows begin 4 banks apart, so 8 rows of 4
    // words fill all 32 banks. With `[128, 4]` rows 0 to 3 begin in one bank, and rows 4 to 7 four banks further: each
    // of these banks serves four words, three more than one.
    assert_eq!(excess, [&json!(0), &json!(3)], "{answers:?}");
}

fn conversion(id: &str, target: &str, shape: [u64; 2], bits: u32, src: &str, dst: &str) -> Json {
    json!({
        "id": id, "op": "convert", "target": target, "src": src, "dst": dst, "shape": shape, "element_bits": bits,
        "num_warps": 4,
    })
}

fn blocked_by(threads: [u64; 2], warps: [u64; 2], order: [u64; 2]) -> String {
    blocked(threads, order).replace("[4, 1]", &format!("{warps:?}"))
}

fn blocked(threads: [u64; 2], order: [u64; 2]) -> String {
    format!(
        "#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = {threads:?}, warpsPerCTA = [4, 1], order = {order:?}}}>"
    )
}

/// Operation counts of conversions equal those derived from the layouts by hand.
#[test]
fn conversions_say_what_they_do() {
    let (rows, columns) = (blocked([4, 8], [1, 0]), blocked([4, 8], [0, 1]));
    let wide = blocked([4, 16], [1, 0]);
    let across = wide.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [1, 4]");
    let requests = [
        conversion("same", "h100", [16, 8], 32, &rows, &rows),
        conversion("permuted", "h100", [16, 8], 32, &rows, &columns),
        conversion("permuted wide", "h100", [16, 8], 64, &rows, &columns),
        conversion("across warps", "mi250", [16, 64], 32, &wide, &across),
    ];
    let answers = batch(lines(&requests));
    let of = |index: usize, field: &str| answers[index]["result"][field].clone();
    for (index, path) in ["none", "shuffle", "shuffle", "shared"].into_iter().enumerate() {
        assert_eq!((&answers[index]["id"], of(index, "path")), (&requests[index]["id"], json!(path)));
    }
    // Each lane gets its one element from another lane: one shuffle a word.
    assert_eq!((of(0, "exchanges"), of(1, "exchanges"), of(2, "exchanges")), (json!(0), json!(1), json!(2)));
    assert_eq!((of(0, "cost"), of(1, "shared_bytes"), of(1, "barriers")), (json!(0.0), json!(0), json!(0)));
    assert_eq!(of(1, "bound"), json!({"wavefronts_stored": 0, "wavefronts_loaded": 0, "exchanges": 1}));
    // All 4096 bytes are stored once and loaded once, 1024 a warp, 128 a wavefront.
    assert_eq!((of(3, "shared_bytes"), of(3, "barriers")), (json!(4096), json!(1)));
    assert_eq!(of(3, "bound"), json!({"wavefronts_stored": 8, "wavefronts_loaded": 8, "exchanges": 0}));
    assert_eq!((of(3, "wavefronts_stored"), of(3, "wavefronts_loaded")), (json!(8), json!(8)));
    for field in
        ["shared_stores", "shared_loads", "matrix_stores", "matrix_loads", "warp_barriers", "permutes", "selects"]
    {
        assert!(answers.iter().all(|answer| answer["result"][field].is_u64()), "{field}");
    }
}

#[test]
fn one_bad_line_never_stops_the_rest() {
    let good = json!({
        "op": "layout", "shape": [8, 16],
        "params": {"kind": "swizzled_shared", "vec": 4, "per_phase": 1, "max_phase": 4, "order": [1, 0]},
    });
    let with = |key: &str, value: Json| {
        let mut changed = good.clone();
        changed[key] = value;
        changed.to_string()
    };
    let rows = blocked([4, 8], [1, 0]);
    let bad = [
        ("{\"op\": \"layout\"".to_owned(), "bad_json"),
        ("\u{0}\u{1}".to_owned(), "bad_json"),
        ("[".repeat(100_000), "bad_json"),
        ("17".to_owned(), "bad_request"),
        ("{}".to_owned(), "bad_request"),
        (with("op", json!("layuot")), "unknown_op"),
        (with("shape", json!("8x16")), "bad_request"),
        (with("shape", json!([8, -16])), "bad_request"),
        (with("shape", json!([8, 12])), "bad_layout"),
        (with("shape", json!([1u64 << 40, 1u64 << 40])), "bad_layout"),
        (with("params", json!({"kind": "swizled_shared"})), "bad_layout"),
        (with("params", json!({"kind": 7})), "bad_layout"),
        (with("params", json!("#ttg.blocked<{")), "bad_layout"),
        (with("target", json!("h1000")), "unknown_target"),
        (conversion("x", "no such target", [16, 8], 32, &rows, &rows).to_string(), "unknown_target"),
        (json!({"op": "invert"}).to_string(), "bad_request"),
        (json!({"op": "invert", "inputs": []}).to_string(), "bad_request"),
        (json!({"op": "equal", "inputs": {"a": {}, "b": {}, "c": {}}}).to_string(), "bad_request"),
        (json!({"op": "cute.coalesce"}).to_string(), "bad_request"),
        (json!({"op": "cute.coalesce", "inputs": {"layout": "4:1"}}).to_string(), "bad_request"),
        (with("target", json!(7)), "bad_request"),
        // Both requests have a dim of 2^64 positions, which no `u64` holds: the out dim of size 2 and stride 2^63, and
        // the in dim.
        (
            json!({"op": "strided_1d", "inputs": {"size": 2, "stride": 1u64 << 63, "in_dim": "a", "out_dim": "b"}})
                .to_string(),
            "undefined",
        ),
        (
            json!({"op": "identity_1d", "inputs": {"size": 2, "in_dim": "a", "out_dim": "b"}})
                .to_string()
                .replace("\"size\":2", "\"size\":18446744073709551616"),
            "bad_request",
        ),
        (json!({"op": "invert", "inputs": {"layout": {"in_dims": 3}}}).to_string(), "bad_layout"),
        (
            json!({"op": "strided_1d", "inputs": {"size": 4, "stride": 3, "in_dim": "lane", "out_dim": "dim0"}})
                .to_string(),
            "undefined",
        ),
        (
            json!({"op": "bank_conflicts", "shape": [16, 8], "element_bits": 32, "distributed": rows, "shared": rows})
                .to_string(),
            "bad_layout",
        ),
        (conversion("x", "h100", [16, 8], 80, &rows, &rows).to_string(), "bad_request"),
        (conversion("x", "mi250", [16, 8], 32, &rows, &rows).to_string(), "bad_request"),
    ];
    let mut requested = String::new();
    for (number, (line, _)) in bad.iter().enumerate() {
        requested += &format!("{line}\n\n{}\n", with("id", json!(number)));
    }
    let answers = batch(requested);
    assert_eq!(answers.len(), 2 * bad.len(), "empty lines are no questions");
    for (number, (pair, (line, code))) in answers.chunks(2).zip(&bad).enumerate() {
        let shown: String = line.chars().take(200).collect();
        assert_eq!(pair[0]["error"]["code"], *code, "{} for {shown}", pair[0]);
        assert!(pair[0]["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{shown}");
        assert!(pair[0].get("result").is_none());
        assert_eq!(pair[1]["id"], number);
        assert!(pair[1]["result"]["bases"].is_object(), "{}", pair[1]);
    }
}

/// Unknown fields, such as a misspelt optional one, are listed in the answer; fields that only known answers have are
/// not.
#[test]
fn fields_that_nothing_reads_are_named() {
    let params = json!({"kind": "swizzled_shared", "vec": 4, "per_phase": 1, "max_phase": 4, "order": [1, 0]});
    let requests = [
        json!({"id": 1, "op": "layout", "shape": [8, 16], "params": params, "taget": "h100"}),
        json!({"id": 2, "op": "layout", "shape": [8, 16], "params": params, "family": "x", "expected": {}, "element_bits": 8}),
        json!({"id": 3, "op": "cute.coalesce", "input": ["4:1"]}),
        json!({"id": 4, "op": "cute.coalesce", "inputs": ["4:1"], "operation": "coalesce", "output": "4:1"}),
    ];
    let answers = batch(lines(&requests));
    let ignored: Vec<_> = answers.iter().map(|answer| answer.get("ignored").cloned()).collect();
    assert_eq!(ignored, [Some(json!(["taget"])), None, Some(json!(["input"])), None], "{answers:?}");
    assert!(answers[0]["result"].is_object(), "the answer is there all the same");
    assert_eq!(answers[2]["error"]["code"], "bad_request");
}

/// Cases that the committed known answers lack: six axes, a cluster with replicas, names that are empty or not ASCII,
/// and dims of 63 bits. The expected results were derived by hand from the definitions.
#[test]
fn requests_unlike_the_rows() {
    let edge: Vec<_> = (0..63).map(|bit| json!([1u64 << bit, 0])).collect();
    let wide = json!({
        "in_dims": [["a", 1u64 << 63], ["b", 2]], "out_dims": [["c", 1u64 << 63], ["d", 2]],
        "bases": {"a": edge, "b": [[0, 1]]},
    });
    let named = |ins: &str, outs: &str, bases: Json| json!({"in_dims": [[ins, 4]], "out_dims": [[outs, 4]], "bases": {ins: bases}});
    let requests = [
        json!({
            "id": 1, "op": "layout", "shape": [2, 2, 2, 2, 2, 2],
            "params": {
                "kind": "blocked", "size_per_thread": [1, 1, 1, 1, 1, 2], "threads_per_warp": [2, 1, 1, 1, 1, 1],
                "warps_per_cta": [1, 2, 1, 1, 1, 1], "order": [5, 0, 2, 1, 3, 4],
            },
        }),
        json!({
            "id": 2, "op": "layout", "shape": [8, 8],
            "params": {
                "kind": "blocked", "size_per_thread": [1, 1], "threads_per_warp": [2, 2], "warps_per_cta": [1, 1],
                "order": [0, 1], "cga_layout": [[0, 1], [0, 0], [1, 0]],
            },
        }),
        json!({"id": 3, "op": "invert", "inputs": {"layout": wide}}),
        json!({
            "id": 4, "op": "compose",
            "inputs": {"inner": named("größe", "x y", json!([[2], [3]])), "outer": named("x y", "", json!([[3], [1]]))},
        }),
    ];
    let answers = batch(lines(&requests));
    let bases = |at: usize| &answers[at]["result"]["bases"];
    // The tensor's other axes go to registers, in the given order: dim2, dim3, dim4.
    assert_eq!(
        bases(0),
        &json!({
            "register": [[0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]],
            "lane": [[1, 0, 0, 0, 0, 0]], "warp": [[0, 1, 0, 0, 0, 0]], "block": [],
        })
    );
    // Four blocks, each with two replicas: a share of 4 x 4; lanes hold 2 x 2 of it.
    assert_eq!(
        bases(1),
        &json!({"register": [[2, 0], [0, 2]], "lane": [[1, 0], [0, 1]], "warp": [], "block": [[0, 4], [0, 0], [4, 0]]})
    );
    assert_eq!((&bases(2)["c"][62], &bases(2)["d"]), (&json!([1u64 << 62, 0]), &json!([[0, 1]])));
    // 2 maps to 1, and 3 = 1 + 2 to 3 xor 1.
    assert_eq!(answers[3]["result"]["bases"], json!({"größe": [[1], [2]]}), "{}", answers[3]);
}

/// A client that sends requests line by line gets each answer before it sends the next request.
#[test]
fn answers_come_as_they_are_ready() {
    let mut process = tilewright().arg("batch").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("batch");
    let (mut input, output) = (process.stdin.take().expect("input"), process.stdout.take().expect("output"));
    let mut answers = BufReader::new(output).lines();
    for id in 0..3 {
        let request = json!({"id": id, "op": "cute.coalesce", "inputs": ["(2,4):(1,2)"]});
        // A part of the next line may be there already.
        input.write_all(format!("{request}\n{{").as_bytes()).expect("it is read");
        let answer: Json = serde_json::from_str(&answers.next().expect("an answer").expect("text")).expect("JSON");
        assert_eq!(answer, json!({"id": id, "result": "8:1"}));
        input.write_all(b"}\n").expect("it is read");
        let refusal = answers.next().expect("an answer").expect("text");
        assert!(refusal.contains("bad_request"), "{refusal}");
    }
    drop(input);
    assert!(process.wait().expect("it ends").success());
}

/// A line beyond the length limit is skipped, and not kept in memory.
#[test]
fn a_line_that_is_too_long_is_refused() {
    let long = format!("{{\"id\": \"{}\"}}\n", "x".repeat(17 << 20));
    let good = json!({"id": 2, "op": "cute.coalesce", "inputs": ["(2,4):(1,2)"]});
    let answers = batch(format!("{long}{good}\n"));
    let [refused, next] = &answers[..] else { panic!("{} answers", answers.len()) };
    assert_eq!(refused["error"]["code"], "bad_json");
    assert_eq!(next, &json!({"id": 2, "result": "8:1"}));
}

#[test]
fn bytes_that_are_no_text_and_a_last_line_without_an_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("questions.jsonl");
    std::fs::write(&file, b"\xff\xfe\n{\"id\": 2, \"op\": \"none\"}").expect("a file");
    let printed = run(tilewright().arg("batch").arg(&file));
    let answers = json_lines(printed.ok());
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!([0, 1].map(|at| &answers[at]["error"]["code"]), ["bad_json", "unknown_op"]);
    assert_eq!(answers[1]["id"], 2);
}
