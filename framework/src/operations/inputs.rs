//! Reads the inputs of operations on linear layouts from JSON, and writes their results.

use serde_json::{Map, Value as Json, json};

use super::error::{LayoutOperationError, wrong};
use tilewright_layout::{Dim, LayoutError, LinearLayout, layout_from_json, layout_to_json};

pub(super) type Answer = Result<Json, LayoutOperationError>;

/// Returns the value of a required input.
pub(super) fn field<'a>(inputs: &'a Json, name: &str) -> Result<&'a Json, LayoutOperationError> {
    inputs.get(name).ok_or_else(|| wrong(format!("`{name}` is missing from `inputs`")))
}

/// Returns the value of an optional input; `None` if it is left out or null.
pub(super) fn optional<'a>(inputs: &'a Json, name: &str) -> Option<&'a Json> {
    inputs.get(name).filter(|value| !value.is_null())
}

pub(super) fn layout(inputs: &Json, name: &str) -> Result<LinearLayout, LayoutOperationError> {
    layout_from_json(field(inputs, name)?)
        .map_err(|error| LayoutOperationError::Layout(format!("`{name}`: {}", error.message)))
}

pub(super) fn dim(inputs: &Json, name: &str) -> Result<Dim, LayoutOperationError> {
    let value = field(inputs, name)?.as_str();
    value.map(Dim::named).ok_or_else(|| wrong(format!("`{name}` must be a dim's name")))
}

pub(super) fn dims(inputs: &Json, name: &str) -> Result<Vec<Dim>, LayoutOperationError> {
    let names = field(inputs, name)?.as_array();
    let named = names.and_then(|list| list.iter().map(|name| name.as_str().map(Dim::named)).collect());
    named.ok_or_else(|| wrong(format!("`{name}` must be a list of names")))
}

pub(super) fn number(inputs: &Json, name: &str) -> Result<u64, LayoutOperationError> {
    let value = field(inputs, name)?.as_u64();
    value.ok_or_else(|| wrong(format!("`{name}` must be a non-negative integer")))
}

pub(super) fn numbers(value: &Json) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Json::as_u64).collect()
}

pub(super) fn number_list(inputs: &Json, name: &str) -> Result<Vec<u64>, LayoutOperationError> {
    let list = numbers(field(inputs, name)?);
    list.ok_or_else(|| wrong(format!("`{name}` must be a list of non-negative integers")))
}

pub(super) fn flag(inputs: &Json, name: &str, default: bool) -> Result<bool, LayoutOperationError> {
    let value = inputs.get(name).map_or(Some(default), Json::as_bool);
    value.ok_or_else(|| wrong(format!("`{name}` must be true or false")))
}

/// Reads the input `name`, a list of pairs of a dim and its size.
pub(super) fn sized(inputs: &Json, name: &str) -> Result<Vec<(Dim, u64)>, LayoutOperationError> {
    let pair = |pair: &Json| match pair.as_array()?.as_slice() {
        [dim, size] => Some((Dim::named(dim.as_str()?), size.as_u64()?)),
        _ => None,
    };
    let pairs = field(inputs, name)?.as_array().and_then(|list| list.iter().map(pair).collect());
    pairs.ok_or_else(|| wrong(format!("`{name}` must be a list of [dim, size]")))
}

/// Reads a point from an object with a coordinate for each dim.
pub(super) fn point(value: &Json) -> Result<Vec<(Dim, u64)>, LayoutOperationError> {
    let coordinate = |(name, at): (&String, &Json)| Some((Dim::named(name), at.as_u64()?));
    let point: Option<Vec<_>> = value.as_object().and_then(|point| point.iter().map(coordinate).collect());
    point.ok_or_else(|| wrong("a point must be an object of dims and integers"))
}

pub(super) fn points(inputs: &Json) -> Result<Vec<Vec<(Dim, u64)>>, LayoutOperationError> {
    let points = field(inputs, "points")?.as_array();
    let points = points.ok_or_else(|| wrong("`points` must be a list of objects"))?;
    points.iter().map(point).collect()
}

/// Returns the JSON form of a layout, or the error of the layout algebra as [`LayoutOperationError::Undefined`].
pub(super) fn answer(found: Result<LinearLayout, LayoutError>) -> Answer {
    let layout = found.map_err(|error| undefined(&error.to_string()))?;
    // The JSON form has sizes as 64-bit numbers, which 2^64 does not fit.
    match layout.ins().iter().chain(layout.outs().iter()).find(|&(_, bits)| bits > 63) {
        Some((dim, _)) => Err(undefined(&format!("{dim} has 2^64 positions: at most 2^63 can be written"))),
        None => Ok(layout_to_json(&layout)),
    }
}

/// Returns `{"value": ...}`, or the error of the layout algebra as [`LayoutOperationError::Undefined`].
pub(super) fn value<T: Into<Json>>(found: Result<T, LayoutError>) -> Answer {
    found.map(|value| json!({ "value": value.into() })).map_err(|error| undefined(&error.to_string()))
}

/// Returns a JSON object with an entry for each dim, under the dim's name.
pub(super) fn by_dim<T: Into<Json>>(entries: impl IntoIterator<Item = (Dim, T)>) -> Json {
    Json::Object(entries.into_iter().map(|(dim, value)| (dim.to_string(), value.into())).collect::<Map<_, _>>())
}

pub(super) fn undefined(why: &str) -> LayoutOperationError {
    LayoutOperationError::Undefined(why.to_owned())
}
