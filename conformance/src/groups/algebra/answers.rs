//! Checks known answers of operations on linear layouts: the expected result, or an error if the operation is
//! undefined. If several results are correct, any of them passes.

use serde_json::Value as Json;
use tilewright::operations::{LayoutOperationError, perform_layout_operation};
use tilewright_layout::{LinearLayout, layout_from_json};

use super::super::law::{LawResult, law_failure, require};
use super::super::walk::columns;
use crate::{Context, KnownAnswer, Verdict};

pub(super) fn check(_: &Context, row: &KnownAnswer) -> LawResult {
    let row = row.parse_json();
    let (operation, inputs) = (row["op"].as_str().unwrap_or_default(), &row["inputs"]);
    match (perform_layout_operation(operation, inputs), row.get("expected_error")) {
        (Err(LayoutOperationError::Undefined(_)), Some(_)) => Ok(()),
        (Ok(found), Some(reason)) => Err(law_failure(format!("is {found}, but should be rejected: {reason}"))),
        (Ok(found), None) if found == row["expected"] => Ok(()),
        (Ok(found), None) => check_alternative(operation, inputs, &found, &row["expected"]),
        (Err(error), _) => Err(law_failure(format!("{error}\nof {inputs}"))),
    }
}

/// Checks whether the result `found` of an operation is correct although it differs from the expected one. Fails for
/// operations that have only one correct result.
fn check_alternative(operation: &str, inputs: &Json, found: &Json, expected: &Json) -> LawResult {
    let read = |value: &Json| -> Result<LinearLayout, Verdict> {
        layout_from_json(value).map_err(|error| law_failure(format!("{value}: {error}")))
    };
    match operation {
        "invert_and_compose" => {
            let (from, to) = (read(&inputs["a"])?, read(&inputs["b"])?);
            check_composition(&read(found)?, &from, &to)
        }
        // The result is a right inverse: followed by the layout, it maps each element to itself.
        "pseudoinvert" => {
            let (layout, inverse) = (read(&inputs["layout"])?, read(found)?);
            let columns: Vec<_> = (0..layout.outs().total_bits()).map(|bit| 1 << bit).collect();
            let identity = LinearLayout::from_columns(layout.outs().clone(), layout.outs().clone(), &columns);
            let identity = identity.map_err(|error| law_failure(error.to_string()))?;
            check_composition(&inverse, &identity, &layout)
        }
        _ => require(false, || format!("is {found}, expected {expected}\nof {inputs}")),
    }
}

/// Checks that `map` followed by `to` equals `from`, on each input bit: linearity extends this to all inputs, so that
/// maps of any size can be compared.
fn check_composition(map: &LinearLayout, from: &LinearLayout, to: &LinearLayout) -> LawResult {
    require(map.ins() == from.ins() && map.outs() == to.ins(), || {
        format!("{map}\ndoes not map from\n{from}\nto\n{to}")
    })?;
    let of = |layout| columns(layout).map_err(law_failure);
    let (steps, outer, inner) = (of(map)?, of(to)?, of(from)?);
    let bits_of = |image: u64| outer.iter().enumerate().filter(move |(bit, _)| image >> bit & 1 == 1);
    for (bit, (&image, inner)) in steps.iter().zip(inner).enumerate() {
        let found = bits_of(image).fold(0, |sum, (_, column)| sum ^ column);
        require(found == inner, || format!("bit {bit} of the input maps to {found:#x}, expected {inner:#x}\n{map}"))?;
    }
    Ok(())
}
