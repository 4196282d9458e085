//! Checks known answers of operations on CuTe layouts: the result must equal the known one in normalised notation. If
//! the answer has a table of exact values, the result must have these values, or be an error if no layout has them.

use serde_json::Value as Json;
use tilewright::operations::{LayoutOperationError, perform_cute_operation};
use tilewright_layout::cute::{CuteError, CuteLayout, CuteLeaf};

use super::super::law::{LawResult, law_failure, require};
use crate::{Context, KnownAnswer, Verdict};

pub(super) fn check(_: &Context, row: &KnownAnswer) -> LawResult {
    let row = row.parse_json();
    let operation = row["operation"].as_str().unwrap_or_default();
    let inputs = row["inputs"].as_array().cloned().unwrap_or_default();
    let found = perform_cute_operation(operation, &inputs);
    let wrong = |message: String| law_failure(format!("{message}\nof {operation} on {}", row["inputs"]));
    match (found, row.get("exact_table")) {
        (Ok(found), Some(table)) => {
            let values: Vec<u64> = layout(&found)?.values().collect();
            require(Json::from(values) == *table, || wrong(format!("is {found}, the exact values are {table}")).detail)
        }
        (Err(LayoutOperationError::Undefined(_)), Some(_)) if row["representable_compatible_with_B"] == false => Ok(()),
        // A known divergence (an operation whose results differ between CuTe's implementations) without a correct
        // layout.
        (Err(LayoutOperationError::Undefined(_)), None) if row["cpp_agrees"] == "error" => Ok(()),
        (Err(error), _) => Err(wrong(error.to_string())),
        (Ok(found), None) => {
            let same = written(&found)? == written(&row["output"])?;
            let inverse = operation == "left_inverse" && undoes(&layout(&found)?, &layout(&inputs[0])?);
            require(same || inverse, || wrong(format!("is {found}, expected {}", row["output"])).detail)
        }
    }
}

fn layout(value: &Json) -> Result<CuteLayout, Verdict> {
    let text = value.as_str().ok_or_else(|| law_failure(format!("{value} is not a layout")))?;
    text.parse().map_err(|error: CuteError| law_failure(format!("`{text}`: {error}")))
}

/// Whether an inverse maps each value of a layout back to its coordinate. Many inverses do, and each is accepted.
fn undoes(inverse: &CuteLayout, layout: &CuteLayout) -> bool {
    layout.values().enumerate().all(|(index, value)| inverse.at(value) == Ok(index as u64))
}

/// Normalises an expected result: strides of modes of size 1 become zero, since they have no effect.
fn written(answer: &Json) -> Result<Json, Verdict> {
    if !answer.is_string() {
        return Ok(answer.clone());
    }
    let zeroed =
        layout(answer)?.tree().map(|mode| if mode.shape == 1 { CuteLeaf { shape: 1, stride: 0 } } else { *mode });
    let layout = CuteLayout::from_tree(zeroed).map_err(|error| law_failure(error.to_string()))?;
    Ok(Json::from(layout.to_string()))
}
