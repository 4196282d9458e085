//! CuTe operations against known answers: inputs and outputs of NVIDIA's public implementations
//! (NVIDIA/cutlass, commit 7107b055: `python/pycute`, and `include/cute` compiled for the host).
//! A sample is committed; the executable `external` checks the full data.
//!
//! Layouts are compared as text, with strides of modes of size 1 set to 0. A left inverse on which the two
//! implementations differ is compared by its values: it must map each value of the layout to its index.

use tilewright_testkit::known_answers;

use serde_json::Value;
use tilewright_layout::cute::*;

use known_answers::Answers;

const SAMPLE: &str = include_str!("../data/cute_algebra_cases.json");
const FULL: &str = "reference/cute_algebra_cases.json";

fn layout(value: &Value) -> CuteLayout {
    let text = value.as_str().expect("a layout is text");
    let layout: CuteLayout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(layout.to_string(), text, "the text goes through");
    layout
}

fn tiler(value: &Value) -> Tiler {
    match value {
        Value::Array(modes) => Tiler::Modes(modes.iter().map(tiler).collect()),
        one => Tiler::Layout(layout(one)),
    }
}

fn tuple(value: &Value) -> IntTuple {
    value.as_str().expect("a tuple is text").parse().expect("a tuple")
}

/// The result of an operation: a layout or numbers.
#[derive(Debug, PartialEq)]
enum Answer {
    Layout(CuteLayout),
    Numbers(Vec<u64>),
}

fn perform(operation: &str, inputs: &[Value]) -> Result<Answer, CuteError> {
    let first = || layout(&inputs[0]);
    let second = || layout(&inputs[1]);
    let number = || inputs[1].as_u64().expect("a number");
    let cut = || tiler(&inputs[1]);
    let result = match operation {
        "coalesce" => coalesce(&first()),
        "coalesce_by_mode" => coalesce_by(&first(), &tuple(&inputs[1])),
        "filter" => filter(&first()),
        "composition" | "composition_extended" => composition(&first(), &second()),
        "composition_tiler" => composition_by(&first(), &cut()),
        "complement" => complement(&first(), number()),
        "right_inverse" => right_inverse(&first()),
        "left_inverse" => left_inverse(&first()),
        "nullspace" => nullspace(&first()),
        "max_common_layout" => max_common_layout(&first(), &second()),
        "max_common_vector" => return Ok(Answer::Numbers(vec![max_common_vector(&first(), &second())?])),
        "logical_divide" | "logical_divide_tiler" => logical_divide(&first(), &cut()),
        "zipped_divide" => zipped_divide(&first(), &cut()),
        "tiled_divide" => tiled_divide(&first(), &cut()),
        "flat_divide" => flat_divide(&first(), &cut()),
        "logical_product" => logical_product(&first(), &cut()),
        "zipped_product" => zipped_product(&first(), &cut()),
        "blocked_product" => blocked_product(&first(), &second()),
        "raked_product" => raked_product(&first(), &second()),
        "tile_to_shape" => tile_to_shape(&first(), &tuple(&inputs[1]), inputs.get(2).map(tuple).as_ref()),
        "upcast" => upcast(&first(), number()),
        "downcast" => downcast(&first(), number()),
        "table" => return Ok(Answer::Numbers(first().values().collect())),
        "swizzle" => {
            let parameter = |name: &str| inputs[0][name].as_i64().expect("a parameter") as i32;
            let swizzle = Swizzle::new(parameter("B") as u32, parameter("M") as u32, parameter("S"))?;
            let numbers = inputs[1].as_array().expect("numbers").iter().filter_map(Value::as_u64);
            return Ok(Answer::Numbers(numbers.map(|x| swizzle.apply(x)).collect()));
        }
        other => panic!("no operation {other}"),
    };
    result.map(Answer::Layout)
}

fn answer(value: &Value) -> Answer {
    match value {
        Value::String(_) => Answer::Layout(layout(value)),
        Value::Array(list) => Answer::Numbers(list.iter().map(|x| x.as_u64().expect("a number")).collect()),
        one => Answer::Numbers(vec![one.as_u64().expect("a number")]),
    }
}

/// Sets the strides of modes of size 1 to 0, since they do not matter.
fn canonical(answer: Answer) -> Answer {
    let Answer::Layout(layout) = answer else { return answer };
    let zeroed = layout.tree().map(|mode| if mode.shape == 1 { CuteLeaf { shape: 1, stride: 0 } } else { *mode });
    Answer::Layout(CuteLayout::from_tree(zeroed).expect("a layout"))
}

fn undoes(inverse: &CuteLayout, layout: &CuteLayout) -> bool {
    layout.values().enumerate().all(|(index, value)| inverse.at(value) == Ok(index as u64))
}

#[test]
fn operations_give_the_known_answers() {
    check_operations_give_the_known_answers(Answers::Sample);
}

pub fn check_operations_give_the_known_answers(answers: Answers) {
    for file in answers.files(SAMPLE, FULL) {
        let cases = file["cases"].as_array().expect("cases");
        assert!(cases.len() > 50);
        let mut wrong = Vec::new();
        for case in cases {
            let (name, inputs) =
                (case["operation"].as_str().expect("a name"), case["inputs"].as_array().expect("inputs"));
            let have = perform(name, inputs).map(canonical);
            if have != Ok(canonical(answer(&case["output"]))) {
                wrong.push(format!("{name} {inputs:?}: {have:?} but {}", case["output"]));
            }
            if name == "table" {
                assert_eq!(layout(&inputs[0]).cosize(), case["cosize"].as_u64().expect("a cosize"), "{inputs:?}");
            }
        }
        println!("{} of {} cases agree", cases.len() - wrong.len(), cases.len());
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    }
}

/// For inputs on which the public implementations differ: the recorded result of one of them, or an error if both
/// violate the law. A left inverse only has to undo the layout.
#[test]
fn where_implementations_differ_the_law_decides() {
    check_where_implementations_differ_the_law_decides(Answers::Sample);
}

pub fn check_where_implementations_differ_the_law_decides(answers: Answers) {
    for file in answers.files(SAMPLE, FULL) {
        for case in file["known_divergences"].as_array().expect("divergences") {
            let (name, inputs) =
                (case["operation"].as_str().expect("a name"), case["inputs"].as_array().expect("inputs"));
            let have = perform(name, inputs).map(canonical);
            match name {
                "left_inverse" => match have {
                    Ok(Answer::Layout(inverse)) => {
                        assert!(undoes(&inverse, &layout(&inputs[0])), "{inputs:?}: {inverse}")
                    }
                    other => panic!("{inputs:?}: {other:?}"),
                },
                _ if case["cpp_agrees"] == "error" => {
                    assert!(matches!(have, Err(CuteError::Inexact { .. })), "{name} {inputs:?}: {have:?}");
                }
                _ => assert_eq!(have, Ok(canonical(answer(&case["output"]))), "{name} {inputs:?}"),
            }
        }
    }
}

#[test]
fn hard_compositions_are_exact_or_refused_with_a_counterexample() {
    check_hard_compositions_are_exact_or_refused_with_a_counterexample(Answers::Sample);
}

pub fn check_hard_compositions_are_exact_or_refused_with_a_counterexample(answers: Answers) {
    for file in answers.files(SAMPLE, FULL) {
        for case in file["composition_admissibility"]["cases"].as_array().expect("hard compositions") {
            let (outer, inner) = (layout(&case["inputs"][0]), layout(&case["inputs"][1]));
            let exact = answer(&case["exact_table"]);
            match composition(&outer, &inner) {
                Ok(result) => assert_eq!(Answer::Numbers(result.values().collect()), exact, "{case}"),
                Err(CuteError::Inexact { index, exact: value, candidate, .. }) => {
                    assert_eq!(case["representable_compatible_with_B"], false, "{case}");
                    let Answer::Numbers(table) = exact else { panic!("a table") };
                    assert_eq!(table[index as usize], value, "{case}");
                    assert_ne!(value, candidate, "{case}");
                }
                Err(other) => panic!("{case}: {other}"),
            }
        }
    }
}
