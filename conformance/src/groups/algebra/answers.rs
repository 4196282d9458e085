//! Rows of operations: the expected result, or a refusal where none is defined. Where several results
//! are right, any of them is.

use serde_json::Value as Json;
use tilewright::operations::{OperationError, algebra};
use tilewright_layout::{LinearLayout, layout_from_json};

use super::super::law::{Checked, broken, require};
use super::super::walk::columns;
use crate::{Context, Row, Verdict};

pub(super) fn check(_: &Context, row: &Row) -> Checked {
    let row = row.json();
    let (operation, inputs) = (row["op"].as_str().unwrap_or_default(), &row["inputs"]);
    match (algebra(operation, inputs), row.get("expected_error")) {
        (Err(OperationError::Undefined(_)), Some(_)) => Ok(()),
        (Ok(found), Some(reason)) => Err(broken(format!("is {found}, but should be refused: {reason}"))),
        (Ok(found), None) if found == row["expected"] => Ok(()),
        (Ok(found), None) => another(operation, inputs, &found, &row["expected"]),
        (Err(error), _) => Err(broken(format!("{error}\nof {inputs}"))),
    }
}

/// A result that is not the expected one may be as right.
fn another(operation: &str, inputs: &Json, found: &Json, expected: &Json) -> Checked {
    let read = |value: &Json| -> Result<LinearLayout, Verdict> {
        layout_from_json(value).map_err(|error| broken(format!("{value}: {error}")))
    };
    match operation {
        "invert_and_compose" => {
            let (from, to) = (read(&inputs["a"])?, read(&inputs["b"])?);
            leads_to(&read(found)?, &from, &to)
        }
        // A right inverse: into the layout and back out, each element is itself.
        "pseudoinvert" => {
            let (layout, inverse) = (read(&inputs["layout"])?, read(found)?);
            let columns: Vec<_> = (0..layout.outs().bits()).map(|bit| 1 << bit).collect();
            let identity = LinearLayout::from_columns(layout.outs().clone(), layout.outs().clone(), &columns);
            let identity = identity.map_err(|error| broken(error.to_string()))?;
            leads_to(&inverse, &identity, &layout)
        }
        _ => require(false, || format!("is {found}, expected {expected}\nof {inputs}")),
    }
}

/// Whether `to` after `map` is `from`, on each bit of the input: maps of any size are so compared.
fn leads_to(map: &LinearLayout, from: &LinearLayout, to: &LinearLayout) -> Checked {
    require(map.ins() == from.ins() && map.outs() == to.ins(), || format!("{map}\nleads not from\n{from}\nto\n{to}"))?;
    let of = |layout| columns(layout).map_err(broken);
    let (steps, outer, inner) = (of(map)?, of(to)?, of(from)?);
    let bits_of = |image: u64| outer.iter().enumerate().filter(move |(bit, _)| image >> bit & 1 == 1);
    for (bit, (&image, inner)) in steps.iter().zip(inner).enumerate() {
        let found = bits_of(image).fold(0, |sum, (_, column)| sum ^ column);
        require(found == inner, || format!("bit {bit} of the input leads to {found:#x}, expected {inner:#x}\n{map}"))?;
    }
    Ok(())
}
