//! Tests of the CuTe operations of `tilewright batch` against the committed known answers.

use crate::command;

use command::{batch, lines};
use serde_json::{Value, json};
use tilewright_testkit::known_answers::Answers;

const SAMPLE: &str = include_str!("../../../layout/tests/data/cute_algebra_cases.json");
const FULL: &str = "reference/cute_algebra_cases.json";

/// Returns a layout's text with stride 0 in modes of size 1, since the strides of such modes have no meaning.
fn canonical(value: &Value) -> Value {
    use tilewright_layout::cute::{CuteLayout, CuteLeaf};
    let Some(text) = value.as_str() else { return value.clone() };
    let layout: CuteLayout = text.parse().expect("a layout");
    let zeroed = layout.tree().map(|mode| if mode.shape == 1 { CuteLeaf { shape: 1, stride: 0 } } else { *mode });
    json!(CuteLayout::from_tree(zeroed).expect("a layout").to_string())
}

/// Returns a layout `shape:stride` as the C++ type of CuTe, with static integers.
fn type_of_layout(text: &str) -> String {
    let (shape, stride) = text.split_once(':').expect("a layout");
    let of = |tuple: &str, name: &str| {
        let mut typed = String::new();
        for (index, one) in tuple.char_indices() {
            let follows_digit = tuple[..index].ends_with(|before: char| before.is_ascii_digit());
            match one {
                '(' => typed += &format!("{name}<"),
                ')' => typed.push('>'),
                digit if digit.is_ascii_digit() && !follows_digit => typed += &format!("_{digit}"),
                other => typed.push(other),
            }
        }
        typed
    };
    format!("Layout<{},cute::{}>", of(shape, "Shape"), of(stride, "Stride"))
}

/// Returns a layout `shape:stride` as an expression of CuTe.
fn expression_of_layout(text: &str) -> String {
    let (shape, stride) = text.split_once(':').expect("a layout");
    format!("make_layout({}, {})", shape.replace('(', "make_shape("), stride.replace('(', "cute::make_stride("))
}

/// Returns an input of a case with all its layouts in another notation.
fn respell(input: &Value, spell: fn(&str) -> String) -> Value {
    match input {
        Value::String(text) if text.contains(':') && !text.contains("Sw") => json!(spell(text)),
        Value::Array(inputs) => inputs.iter().map(|input| respell(input, spell)).collect(),
        other => other.clone(),
    }
}

#[test]
fn known_answers_come_out() {
    check_known_answers_come_out(Answers::Sample);
}

#[test]
fn known_answers_come_out_of_layouts_in_cpp() {
    check_known_answers_come_out_of_layouts_in_cpp(Answers::Sample);
}

pub fn check_known_answers_come_out(answers: Answers) {
    check_known_answers(answers, str::to_owned);
}

pub fn check_known_answers_come_out_of_layouts_in_cpp(answers: Answers) {
    check_known_answers(answers, type_of_layout);
    check_known_answers(answers, expression_of_layout);
}

fn check_known_answers(answers: Answers, spell: fn(&str) -> String) {
    let cases = answers.entries(SAMPLE, FULL, "cases");
    let request = |(id, case): (usize, &Value)| {
        let operation = case["operation"].as_str().expect("a name");
        json!({ "id": id, "op": format!("cute.{operation}"), "inputs": respell(&case["inputs"], spell) })
    };
    let answers = batch(lines(&cases.iter().enumerate().map(request).collect::<Vec<_>>()));
    assert_eq!(answers.len(), cases.len());
    for (answer, case) in answers.iter().zip(&cases) {
        assert_eq!(canonical(&answer["result"]), canonical(&case["output"]), "{case}: {answer}");
    }
}

#[test]
fn what_has_no_answer_is_refused_with_a_reason() {
    let request = |op: &str, inputs: Value| json!({ "id": 0, "op": op, "inputs": inputs });
    let answers = batch(lines(&[
        request("cute.composition", json!(["(4,6,8):(2,3,5)", "6:3"])),
        request("cute.composition", json!(["(4,6:1", "6:3"])),
        request("cute.composition", json!(["4:1"])),
        request("cute.table", json!(["1000000:1"])),
        request("cute.guess", json!([])),
        request("cute.filter", json!(["4:1", "8:1"])),
        request("cute.complement", json!(["8:-1", 16])),
        request("cute.composition", json!(["8:1", "8:-1"])),
    ]));
    let codes: Vec<_> = answers.iter().map(|answer| answer["error"]["code"].as_str().unwrap_or("none")).collect();
    assert_eq!(codes[..6], ["undefined", "bad_layout", "bad_request", "bad_request", "unknown_op", "bad_request"]);
    assert_eq!(codes[6..], ["undefined", "bad_layout"]);
    assert!(answers[0]["error"]["message"].as_str().is_some_and(|text| text.contains("at index")), "{}", answers[0]);
}

/// Checks layouts with negative strides by hand: `8:-1` maps `i` to `-i`, and the modes of a composition step through
/// those of the outer layout.
#[test]
fn negative_strides_give_negative_offsets() {
    let request = |op: &str, inputs: Value| json!({ "id": 0, "op": op, "inputs": inputs });
    let answers = batch(lines(&[
        request("cute.table", json!(["8:-1"])),
        request("cute.table", json!(["(2,3):(-3,1)"])),
        request("cute.coalesce", json!(["(4,(2,8)):(-1,(-4,-8))"])),
        request("cute.composition", json!(["(4,8):(-8,1)", "8:2"])),
        request("cute.flatten", json!(["((2,2),2):((-1,4),-2)"])),
    ]));
    let results: Vec<_> = answers.iter().map(|answer| answer["result"].clone()).collect();
    let table = json!([0, -1, -2, -3, -4, -5, -6, -7]);
    let expected = json!([table, [0, -3, 1, -2, 2, -1], "64:-1", "(2,4):(-16,1)", "(2,2,2):(-1,4,-2)"]);
    assert_eq!(json!(results), expected);
}
