//! The layout core against known answers: the neutral families, and every operation of the algebra.

use tilewright_testkit::known_answers;

use known_answers::{Answers, all_agree, check_layout, list_family_names, numbers, same_layout};
use serde_json::{Value, json};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout, layout_from_json};

const LAYOUTS: &str = include_str!("../data/layouts.jsonl");
const ALGEBRA: &str = include_str!("../data/algebra.jsonl");
const NEUTRAL: [&str; 7] =
    ["blocked", "slice", "linear", "dot_operand", "swizzled_shared", "padded_shared", "shared_linear"];

#[test]
fn neutral_families_agree() {
    check_neutral_families_agree(Answers::Sample);
}

pub fn check_neutral_families_agree(answers: Answers) {
    let rows = answers.rows(LAYOUTS, "oracle/layouts.jsonl");
    let neutral = |row: &Value| list_family_names(&row["params"]).iter().all(|name| NEUTRAL.contains(&name.as_str()));
    all_agree(&rows, neutral, |row| check_layout(row, &NeutralFamilies));
}

#[test]
fn operations_agree() {
    check_operations_agree(Answers::Sample);
}

pub fn check_operations_agree(answers: Answers) {
    let rows = answers.rows(ALGEBRA, "oracle/algebra.jsonl");
    all_agree(&rows, |_| true, check_operation);
}

fn layout(value: &Value) -> LinearLayout {
    layout_from_json(value).expect("the row has a layout")
}

fn dim(value: &Value) -> Dim {
    Dim::named(value.as_str().expect("the row has a dim"))
}

fn check_operation(row: &Value) -> Result<(), String> {
    let inputs = &row["inputs"];
    let op = row["op"].as_str().expect("op");
    let expected = &row["expected"];
    match op {
        "predicates" | "matrix" | "apply" | "equal" => {
            let found = ask(op, inputs);
            if found == *expected { Ok(()) } else { Err(format!("found {found}, expected {expected}")) }
        }
        _ => match (build(op, inputs), row["expected_error"].as_str()) {
            (Err(_), Some(_)) => Ok(()),
            (Ok(found), None) => same_layout(&found, &layout(expected)).map_err(|why| format!("{why}\nof {inputs}")),
            (Err(error), None) => Err(format!("{error}\nof {inputs}")),
            (Ok(found), Some(reason)) => Err(format!("should fail ({reason}) but is\n{found}\nof {inputs}")),
        },
    }
}

fn build(op: &str, inputs: &Value) -> Result<LinearLayout, LayoutError> {
    let size = || inputs["size"].as_u64().expect("size");
    let (from, to) = (|| dim(&inputs["in_dim"]), || dim(&inputs["out_dim"]));
    match op {
        "identity_1d" => LinearLayout::identity(size(), from(), to()),
        "strided_1d" => LinearLayout::strided(size(), inputs["stride"].as_u64().expect("stride"), from(), to()),
        "zeros_1d" => LinearLayout::zeros(size(), from(), to(), inputs["out_dim_size"].as_u64().expect("size")),
        "from_bases" => from_bases(inputs),
        "invert" => layout(&inputs["layout"]).invert(),
        "pseudoinvert" => layout(&inputs["layout"]).pseudoinvert(),
        "compose" => layout(&inputs["inner"]).compose(&layout(&inputs["outer"])),
        "invert_and_compose" => layout(&inputs["a"]).invert_and_compose(&layout(&inputs["b"])),
        "mul" => layout(&inputs["a"]).direct_sum(&layout(&inputs["b"])),
        _ => panic!("unknown operation {op}"),
    }
}

/// Builds a layout from its bases. If the sizes of the out dims are not given, they are inferred, which requires a
/// surjective layout; if the request does not require one, the result is an error whatever the bases are.
fn from_bases(inputs: &Value) -> Result<LinearLayout, LayoutError> {
    let images = |value: &Value| value.as_array().expect("bases").iter().map(numbers).collect::<DimBases>();
    let bases: Vec<(Dim, DimBases)> =
        inputs["bases"].as_array().expect("bases").iter().map(|pair| (dim(&pair[0]), images(&pair[1]))).collect();
    let outs: Vec<Dim> = inputs["out_dim_names"].as_array().expect("names").iter().map(dim).collect();
    let surjective = inputs["require_surjective"] == true;
    if inputs["out_dim_sizes"].is_null() {
        if !surjective {
            return Err(LayoutError::NotSurjective { rank: 0, bits: 0 });
        }
        return LinearLayout::from_bases_inferred(&bases, &outs);
    }
    let outs: Vec<_> = outs.into_iter().zip(numbers(&inputs["out_dim_sizes"])).collect();
    let found = LinearLayout::from_bases(&bases, &outs)?;
    if surjective { found.require_surjective() } else { Ok(found) }
}

fn ask(op: &str, inputs: &Value) -> Value {
    match op {
        "predicates" => {
            let layout = layout(&inputs["layout"]);
            json!({
                "is_surjective": layout.is_surjective(),
                "is_injective": layout.is_injective(),
                "is_invertible": layout.is_invertible(),
                "num_in_dims": layout.ins().len(),
                "num_out_dims": layout.outs().len(),
            })
        }
        "matrix" => json!({"rows": layout(&inputs["layout"]).matrix()}),
        "apply" => {
            let layout = layout(&inputs["layout"]);
            let points = inputs["points"].as_array().expect("points").iter();
            json!({"points": points.map(|point| image(&layout, point)).collect::<Vec<_>>()})
        }
        _ => json!({"value": layout(&inputs["a"]) == layout(&inputs["b"])}),
    }
}

fn image(layout: &LinearLayout, point: &Value) -> Value {
    let input: Vec<_> = point
        .as_object()
        .expect("a point")
        .iter()
        .map(|(name, at)| (Dim::named(name), at.as_u64().expect("a coordinate")))
        .collect();
    let output = layout.apply(&input).expect("the point is in the layout");
    output.into_iter().map(|(dim, at)| (dim.to_string(), json!(at))).collect::<serde_json::Map<_, _>>().into()
}
