//! Tests of `tilewright memory`: the example of the documentation, the choice as JSON and by `batch`, and rejected
//! input.

use crate::command;

use std::process::Command;

use command::{batch, lines, root, run, shell, tilewright};
use serde_json::{Value as Json, json};
use tilewright_testkit::golden;

const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const COLUMNS: &str =
    "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";

fn requested(more: &[&str]) -> Command {
    let mut command = tilewright();
    command.args(["memory", "--target", "a100", "--shape", "64x64", "--element", "f16", "--store", ROWS]);
    command.args(["--load", COLUMNS]).args(more);
    command
}

fn chosen(more: &[&str]) -> Json {
    run(requested(more).arg("--json")).json()
}

/// Returns the start and end, as byte offsets, of the example in a documentation page: indented lines with the command,
/// then the output.
fn example(text: &str) -> (usize, usize) {
    let start = text.find("\n    tilewright memory --target").expect("the example") + 1;
    let lines =
        text[start..].split_inclusive('\n').take_while(|line| line.starts_with("    ") || line.trim().is_empty());
    (start, start + lines.map(str::len).sum::<usize>())
}

#[test]
fn the_documented_example_matches_the_command_output() {
    let path = root().join("docs/memory.md");
    let text = std::fs::read_to_string(&path).expect("the documentation");
    let after = text.find("## Example").expect("the section");
    let (start, end) = example(&text[after..]);
    let shown: Vec<&str> =
        text[after + start..after + end].lines().map(|line| line.strip_prefix("    ").unwrap_or("")).collect();
    let last = shown.iter().position(|line| !line.ends_with('\\')).expect("the end of the command");
    let printed = run(&mut shell(&shown[..=last].join("\n"), &root()));
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let lines = shown[..=last].iter().copied().chain([""]).chain(printed.ok().lines().map(str::trim_end));
    let block: String = lines.map(indented).collect();
    golden::check(&path, &format!("{}{block}\n{}", &text[..after + start], &text[after + end..]));
}

/// The choice as JSON for 64x64 elements of 16 bits by 4 warps, which is 2048 bytes a warp: store and load take 16
/// wavefronts of 128 bytes each if each has its own vectors. Store and load have no register bit in common, so each
/// access has one element.
#[test]
fn the_choice_as_json() {
    let choice = chosen(&[]);
    assert_eq!(choice["lower_bound"], 32);
    let (kinds, best) = (choice["candidates"].as_array().expect("candidates"), &choice["candidates"][0]);
    assert_eq!(
        (&best["kind"], &best["wavefronts"], &best["closed"]),
        (&choice["chosen"], &choice["wavefronts"], &Json::Null)
    );
    assert!(kinds.iter().all(|kind| kind["wavefronts"].as_u64() >= choice["wavefronts"].as_u64()));
    assert_eq!(choice["closed"][0]["kind"], "permuted_global");
    let padded = kinds.iter().find(|kind| kind["kind"] == "padding").expect("padding");
    assert!(padded["bytes"].as_u64() > Some(8192) && padded["layout"]["kind"] == "padded_shared");
    let functor = kinds.iter().find(|kind| kind["kind"] == "functor").expect("a functor");
    let (name, text) = (functor["functor"].as_str().expect("a name"), functor["cute"].as_str().expect("a layout"));
    assert!(text.starts_with(name), "{text}");
}

#[test]
fn constraints_are_kept() {
    let plain = chosen(&["--only", "plain"]);
    assert_eq!((&plain["chosen"], &plain["candidates"][0]["bytes"]), (&json!("plain"), &json!(8192)));
    assert!(plain["gap_to_best_known"].as_u64() > Some(0));
    let tight = chosen(&["--only", "padding", "--max-bytes", "8400"]);
    assert!(tight["candidates"][0]["bytes"].as_u64() <= Some(8400));
    let lax = chosen(&["--excess", "100000"]);
    assert_eq!(lax["chosen"], "plain", "no byte and no word is spent on what is as good as nothing");
    let weighed = chosen(&["--load", &format!("3*{ROWS}")]);
    assert_eq!(weighed["lower_bound"], 32 + 3 * 16);
}

#[test]
fn copies_say_what_they_fetch() {
    let choice = chosen(&["--copy", "128"]);
    let permuted = choice["candidates"].as_array().expect("candidates").iter().find(|c| c["kind"] == "permuted_global");
    let fetch = &permuted.expect("a permuted copy")["fetch"];
    assert_eq!(fetch["units"], fetch["straight_units"]);
    assert_eq!(fetch["layout"]["in_dims"][1], json!(["lane", 32]));
    let out = run(&mut requested(&["--copy", "128"])).out;
    assert!(
        out.contains("the copy fetches:\n#ttg.generic_linear<")
            && out.contains("rejected: the copy writes consecutively"),
        "{out}"
    );
}

#[test]
fn batch_gives_the_same_choice() {
    let accessors = json!([
        {"layout": ROWS, "direction": "store"},
        {"layout": COLUMNS, "direction": "load", "weight": 2},
    ]);
    let request = json!({"id": 1, "op": "choose_memory", "target": "a100", "shape": [64, 64], "element_bits": 16,
        "accessors": accessors, "only": ["padding", "plain"]});
    let mut wrong = request.clone();
    wrong["accessors"][0]["direction"] = json!("both");
    let mut unknown = request.clone();
    unknown["only"] = json!(["paddign"]);
    let answers = batch(lines(&[request, wrong, unknown]));
    let same = run(tilewright().args(["memory", "--target", "a100", "--shape", "64x64", "--element", "16"]).args([
        "--store",
        ROWS,
        "--load",
        &format!("2*{COLUMNS}"),
        "--only",
        "padding",
        "--only",
        "plain",
        "--json",
    ]));
    assert_eq!(answers[0], json!({"id": 1, "result": same.json()}));
    let message = |at: usize| answers[at]["error"]["message"].as_str().expect("an error").to_owned();
    assert!(message(1).contains("`direction` must be `store` or `load`"), "{}", message(1));
    assert!(message(2).contains("known are plain, functor"), "{}", message(2));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |more: &[&str]| run(&mut requested(more)).failed(2).to_owned();
    assert!(refused(&["--max-bytes", "100"]).contains("8192 bytes, and 100 are allowed"));
    assert!(refused(&["--only", "functr"]).contains("known are plain, functor"));
    assert!(refused(&["--only", "permuted_global"]).contains("no accessor is a copy"));
    assert!(refused(&["--load", "#ttg.blokced<{}>"]).contains("LOAD"));
}
