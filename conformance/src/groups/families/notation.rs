//! Formats specs (family and parameters) as a user would write them, to check that they are parsed as intended.

use tilewright_layout::{FamilyParameterValue, FamilySpec};

/// Formats the spec as JSON, one of the notations that users write.
pub(super) fn json(spec: &FamilySpec) -> String {
    tilewright_layout::spec_to_json(spec).to_string()
}

/// Formats the spec as an attribute, `#layout.name<{parameter = value, ...}>`.
pub(super) fn attribute(spec: &FamilySpec) -> String {
    let given = spec.attributes.iter().map(|(name, value)| format!("{name} = {}", self::value(value)));
    let parent = spec.parent.iter().map(|parent| format!("parent = {}", attribute(parent)));
    let entries: Vec<_> = given.chain(parent).collect();
    format!("#layout.{}<{{{}}}>", spec.name, entries.join(", "))
}

fn value(value: &FamilyParameterValue) -> String {
    match value {
        FamilyParameterValue::Bool(value) => value.to_string(),
        FamilyParameterValue::Int(value) => value.to_string(),
        FamilyParameterValue::Text(value) => format!("\"{value}\""),
        FamilyParameterValue::List(items) => {
            format!("[{}]", items.iter().map(self::value).collect::<Vec<_>>().join(", "))
        }
        FamilyParameterValue::Spec(spec) => attribute(spec),
    }
}
