//! Shows layouts in CuTe's notation that no linear layout is: the value at each coordinate.

use std::io::Write;

use serde_json::{Value as Json, json};
use tilewright_layout::cute::{CuteError, NotatedLayout};

use super::show::{MOST_BITS, grid_of_axes};
use crate::failure::CommandError;
use crate::notation::LayoutNotation;

/// The requested form of the output.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValuesForm {
    /// The flat and the coalesced layout, and a table of values.
    Table,
    /// JSON with the sizes and the values.
    Json,
    /// The text in a notation.
    Notation(LayoutNotation),
}

/// Prints a layout by its values. `reason` states why no linear layout is the same map.
pub(super) fn print_values(form: ValuesForm, layout: &NotatedLayout, reason: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    match form {
        ValuesForm::Notation(LayoutNotation::Cute) => writeln!(out, "{layout}")?,
        ValuesForm::Notation(_) => return Err(CommandError::Input(reason.to_owned())),
        ValuesForm::Json => writeln!(out, "{}", to_json(layout).map_err(failed)?)?,
        ValuesForm::Table => write!(out, "{}", to_text(layout, reason).map_err(failed)?)?,
    }
    Ok(())
}

fn failed(error: CuteError) -> CommandError {
    CommandError::Input(format!("LAYOUT: {error}"))
}

fn to_text(layout: &NotatedLayout, reason: &str) -> Result<String, CuteError> {
    let mut text = format!("{layout}\nno linear layout: {reason}\n");
    for (name, same) in [("flat", layout.flatten()?), ("coalesced", layout.coalesce()?)] {
        text += &same.map_or_else(String::new, |same| format!("{name}: {same}\n"));
    }
    let sizes = layout.sizes()?;
    let size = count(&sizes)?;
    if size > 1 << MOST_BITS {
        return Ok(text + &format!("not drawn: {size} values, and at most 2^{MOST_BITS} are\n"));
    }
    let values = (0..size).map(|index| layout.values_at(index)).collect::<Result<Vec<_>, _>>()?;
    let axes: Vec<_> = sizes.iter().enumerate().map(|(mode, &size)| (format!("mode {mode}"), size)).collect();
    let drawn = grid_of_axes(&axes, &|coordinate| {
        let index = coordinate.iter().zip(&sizes).rev().fold(0, |index, (at, size)| index * size + at);
        let numbers: Vec<_> = values[index as usize].iter().map(i64::to_string).collect();
        if let [number] = &numbers[..] { number.clone() } else { format!("({})", numbers.join(",")) }
    });
    Ok(format!("{text}\nvalue\n{drawn}"))
}

fn to_json(layout: &NotatedLayout) -> Result<Json, CuteError> {
    let sizes = layout.sizes()?;
    let size = count(&sizes)?.min(1 << MOST_BITS);
    let values = (0..size).map(|index| layout.values_at(index)).collect::<Result<Vec<_>, _>>()?;
    let listed = values.iter().map(|value| if let [number] = value[..] { json!(number) } else { json!(value) });
    Ok(json!({ "cute": layout.to_string(), "sizes": sizes, "values": listed.collect::<Vec<_>>() }))
}

/// Returns the number of coordinates of modes of these sizes.
fn count(sizes: &[u64]) -> Result<u64, CuteError> {
    let product = sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size));
    product.ok_or(CuteError::Overflow { what: "the number of coordinates" })
}
