//! Tests of known answers: those of the suite, of plugins, and of users.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use conformance::{AnswersError, Context, KnownAnswers, Status, Verdict};

use super::invented::{Flaw, Invented};
use super::verdicts_in;

/// A known answer: the layout of one tile of operand `a`, as in `invented.rs`, with four elements of K in the low
/// lanes.
const TILE: &str = r#"{"id": "one tile", "params": {"kind": "tile", "part": "a", "warps": 1}, "shape": [8, 4],
"expected": {"in_dims": [["register", 1], ["lane", 32], ["warp", 1], ["block", 1]], "out_dims": [["dim0", 8], ["dim1", 4]],
"bases": {"register": [], "lane": [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], "warp": [], "block": []}}}"#;
/// A known answer: a padded layout with four gaps of eight elements in 128; the gap after the last element is omitted.
const GAPS: &str = r#"{"id": "gaps", "params": {"kind": "gapped"}, "shape": [8, 16],
"expected": {"in_dims": [["offset", 128], ["block", 1]], "out_dims": [["dim0", 8], ["dim1", 16]],
"bases": {"offset": [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], "block": []},
"physical_offsets": [[31, [1, 15], 31], [32, [2, 0], 40], [127, [7, 15], 151]], "allocated_elements": 152}}"#;

fn line(row: &str) -> String {
    row.replace('\n', " ") + "\n"
}

/// Returns a function from case names to the verdicts on the target with this flaw, with a file of known answers.
fn requested(flaw: Flaw, file: &Path) -> impl Fn(&str) -> Verdict + use<> {
    let mut answers = KnownAnswers::default();
    answers.add_files(file).expect("the file is right");
    let context = Context::with_answers(Arc::new(Invented::new(flaw)), Arc::new(answers));
    let verdicts = verdicts_in(&context);
    move |name| verdicts.get(name).unwrap_or_else(|| panic!("no case {name}")).clone()
}

#[test]
fn family_layouts_match_the_supplied_answers() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("invented.answers.jsonl");
    fs::write(&file, line(TILE) + &line(GAPS)).expect("a file");
    let honest = requested(Flaw::None, &file);
    assert_eq!(honest("families/answers/tile").status, Status::Pass, "{}", honest("families/answers/tile").detail);
    assert_eq!(honest("families/answers/gapped").status, Status::Pass);
    // Two bases of the lanes are swapped: as a map the layout is as valid as the right one.
    let swapped = requested(Flaw::OperandDiffers, &file);
    let verdict = swapped("families/answers/tile");
    assert_eq!(verdict.status, Status::Fail);
    assert!(verdict.detail.contains("one tile"), "the row is named: {}", verdict.detail);
    assert_eq!(swapped("families/definition/tile-a/128x128/f16/w4").status, Status::Pass);
    let overlapping = requested(Flaw::OverlapsInMemory, &file);
    assert_eq!(overlapping("families/answers/gapped").status, Status::Fail);
    let broken = requested(Flaw::Breaks, &file);
    assert_eq!(broken("families/answers/tile").status, Status::Crash);
    let hidden = requested(Flaw::HidesGapped, &file);
    assert_eq!(hidden("families/shown/gapped").status, Status::Pass, "an answer shows it");
}

#[test]
fn answers_about_families_of_others_are_unsupported() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("layouts.jsonl");
    let strange = TILE.replace("\"tile\"", "\"strange\"");
    fs::write(&file, line(&strange)).expect("a file");
    // A directory is searched for files with the known names.
    let verdict = requested(Flaw::None, directory.path())("families/answers/strange");
    assert_eq!(verdict.status, Status::Unsupported);
    assert!(verdict.detail.contains("does not serve these families"), "{}", verdict.detail);
}

/// A file with a wrong answer fails the group that uses it, and the failure has the id of the answer.
#[test]
fn a_wrong_answer_disagrees() {
    let directory = tempfile::tempdir().expect("a directory");
    let check = |name: &str, text: &str, case: &str, status: Status| {
        let file = directory.path().join(name);
        fs::write(&file, text).expect("a file");
        let verdict = requested(Flaw::None, &file)(case);
        assert_eq!(verdict.status, status, "{case}: {}", verdict.detail);
    };
    let strided = |stride: u64| {
        let layout = r#"{"in_dims": [["lane", 2]], "out_dims": [["dim0", 4]], "bases": {"lane": [[2]]}}"#;
        let inputs = format!(r#"{{"size": 2, "stride": {stride}, "in_dim": "lane", "out_dim": "dim0"}}"#);
        format!(r#"{{"id": 1, "op": "strided_1d", "inputs": {inputs}, "expected": {layout}}}"#)
    };
    check("algebra.jsonl", &strided(2), "algebra/answers/strided_1d", Status::Pass);
    check("algebra.jsonl", &strided(4), "algebra/answers/strided_1d", Status::Fail);
    let refused = strided(2).replace("\"expected\": {", "\"expected_error\": \"never\", \"was\": {");
    check("algebra.jsonl", &refused, "algebra/answers/strided_1d", Status::Fail);
    let cute = |output: &str| {
        format!(r#"{{"cases": [{{"operation": "coalesce", "inputs": ["(2,4):(1,2)"], "output": "{output}"}}]}}"#)
    };
    check("cute.json", &cute("8:1"), "cute/answers/coalesce", Status::Pass);
    check("cute.json", &cute("8:2"), "cute/answers/coalesce", Status::Fail);
}

/// If several maps lead into a layout that holds elements twice, each of them passes as an answer, and others fail.
#[test]
fn of_several_solutions_any_is_right() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("algebra.jsonl");
    let layout = |size: u64, bases: &str| {
        format!(r#"{{"in_dims": [["lane", {size}]], "out_dims": [["dim0", 2]], "bases": {{"lane": [{bases}]}}}}"#)
    };
    let row = |expected: &str| {
        let (a, b) = (layout(2, "[1]"), layout(4, "[1], [1]"));
        let found =
            format!(r#"{{"in_dims": [["lane", 2]], "out_dims": [["lane", 4]], "bases": {{"lane": [[{expected}]]}}}}"#);
        let inputs = format!(r#"{{"a": {a}, "b": {b}}}"#);
        format!(r#"{{"id": 1, "op": "invert_and_compose", "inputs": {inputs}, "unique": false, "expected": {found}}}"#)
    };
    for right in ["1", "2"] {
        fs::write(&file, row(right)).expect("a file");
        assert_eq!(requested(Flaw::None, &file)("algebra/answers/invert_and_compose").status, Status::Pass, "{right}");
    }
}

#[test]
fn files_that_are_no_answers_are_refused_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let refusal = |path: &Path| KnownAnswers::default().add_files(path).expect_err("it is refused");
    assert!(matches!(refusal(&path("missing.jsonl")), AnswersError::Unreadable { .. }));
    assert!(matches!(refusal(directory.path()), AnswersError::Empty { .. }));
    for (name, text, location) in [
        ("empty.jsonl", "\n \n", "no row"),
        ("cut.jsonl", "{\"id\": 1, \"params\": {\"kind\": \"blocked\"}}\n{\"id\": 2", "line 2"),
        ("other.jsonl", "{\"id\": 1, \"src\": {}}", "neither `op` nor `params`"),
        ("nameless.jsonl", "{\"op\": \"invert\"}", "id"),
        ("kindless.jsonl", "{\"id\": 1, \"params\": {\"order\": [0]}}", "`params`"),
        ("cute.json", "{\"cases\": [{\"inputs\": []}]}", "case 0 of `cases`"),
        ("list.json", "[]", "line 1"),
    ] {
        fs::write(path(name), text).expect("a file");
        let message = refusal(&path(name)).to_string();
        assert!(message.contains(name) && message.contains(location), "{message}");
    }
}

#[test]
fn what_is_carried_covers_the_algebras_and_the_neutral_families() {
    let answers = KnownAnswers::builtin();
    for family in ["blocked", "linear", "dot_operand-of-blocked", "swizzled_shared", "padded_shared", "shared_linear"] {
        assert!(answers.layouts[family].len() >= 8, "{family}");
    }
    assert!(answers.algebra.len() >= 13 && answers.algebra.values().all(|rows| rows.len() >= 3));
    assert!(answers.cute.len() >= 26 && answers.cute["composition"].len() >= 70);
}
