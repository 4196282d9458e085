//! JSON forms of layouts and family specs; the same structures cross the plugin boundary.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::case::to_snake_case;
use crate::text::TextError;
use crate::{Dim, DimBases, FamilySpec, LinearLayout};

#[derive(Serialize)]
struct Written<'a> {
    in_dims: Vec<(String, u64)>,
    out_dims: Vec<(String, u64)>,
    bases: WrittenBases<'a>,
}

struct WrittenBases<'a>(&'a LinearLayout);

impl Serialize for WrittenBases<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.ins().len()))?;
        for dim in self.0.ins().dims() {
            map.serialize_entry(&dim.to_string(), &self.0.bases_of(dim))?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
struct Read {
    in_dims: Vec<(String, u64)>,
    out_dims: Vec<(String, u64)>,
    bases: BTreeMap<String, DimBases>,
}

impl Serialize for LinearLayout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sized = |(dim, bits): (Dim, u32)| (dim.to_string(), 1u64.checked_shl(bits).unwrap_or(0));
        Written {
            in_dims: self.ins().iter().map(sized).collect(),
            out_dims: self.outs().iter().map(sized).collect(),
            bases: WrittenBases(self),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for LinearLayout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut read = Read::deserialize(from)?;
        let mut bases = Vec::new();
        for (name, size) in &read.in_dims {
            let dim_bases = read.bases.remove(name).unwrap_or_default();
            if 1u64.checked_shl(dim_bases.len() as u32) != Some(*size) {
                let message = format!("{name} has size {size} and {} bases", dim_bases.len());
                return Err(D::Error::custom(message));
            }
            bases.push((Dim::named(name), dim_bases));
        }
        if let Some(name) = read.bases.keys().next() {
            return Err(D::Error::custom(format!("bases of {name}, which in_dims does not list")));
        }
        let outs: Vec<_> = read.out_dims.iter().map(|(name, size)| (Dim::named(name), *size)).collect();
        Self::from_bases(&bases, &outs).map_err(D::Error::custom)
    }
}

/// Reads a linear layout from its JSON form, `{"in_dims": ..., "out_dims": ..., "bases": ...}`.
///
/// # Errors
/// [`TextError`] if the value does not have this form, or if the bases do not fit the dims.
pub fn layout_from_json(value: &serde_json::Value) -> Result<LinearLayout, TextError> {
    LinearLayout::deserialize(value).map_err(|error| match find_camel_case_key(value) {
        Some((given, written)) => TextError::new("", 0, format!("`{given}` must be written `{written}`")),
        None => of_value(&error),
    })
}

/// Finds a key of a layout's JSON form that was given in `camelCase`; returns it, and its correct form in `snake_case`.
/// `None` if there is no such key.
pub fn find_camel_case_key(value: &serde_json::Value) -> Option<(&str, String)> {
    let keys = value.as_object()?.keys();
    let written = keys.map(|key| (key.as_str(), to_snake_case(key)));
    written.into_iter().find(|(key, written)| key != written && ["in_dims", "out_dims"].contains(&written.as_str()))
}

/// The JSON form of a linear layout.
#[must_use]
pub fn layout_to_json(layout: &LinearLayout) -> serde_json::Value {
    serde_json::to_value(layout).unwrap_or(serde_json::Value::Null)
}

/// Reads a family spec from its JSON form.
///
/// # Errors
/// [`TextError`] if the value is not an object with the family's name as `kind`, or if a parameter has no known type.
pub fn spec_from_json(value: &serde_json::Value) -> Result<FamilySpec, TextError> {
    FamilySpec::deserialize(value).map_err(|error| of_value(&error))
}

/// The JSON form of a family spec.
#[must_use]
pub fn spec_to_json(spec: &FamilySpec) -> serde_json::Value {
    serde_json::to_value(spec).unwrap_or(serde_json::Value::Null)
}

/// Reads a family spec from JSON text.
pub(super) fn spec_from_text(text: &str) -> Result<FamilySpec, TextError> {
    serde_json::from_str(text).map_err(|error| {
        let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let message = error.to_string();
        // The `TextError` carries the position, so the message does not repeat it.
        let end = message.rfind(" at line ").unwrap_or(message.len());
        TextError::new(text, before + error.column().saturating_sub(1), &message[..end])
    })
}

/// Converts an error in a JSON value, which has no position in a text.
fn of_value(error: &serde_json::Error) -> TextError {
    TextError::new("", 0, error.to_string())
}
