//! Finds unknown fields of a request, such as misspelt ones, which would otherwise be ignored silently.

use serde_json::Value as Json;

use tilewright_layout::to_snake_case;

use super::operations::OPERATIONS;

/// Fields that any request may have: `id`, `op`, and those that the rows of known-answer files have in addition to a
/// request.
const OF_ROWS: [&str; 7] = ["id", "op", "family", "expected", "expected_error", "unique", "element_bits"];

/// Further fields that rows of known answers have for CuTe's operations.
const OF_CUTE: [&str; 18] = [
    "inputs",
    "operation",
    "output",
    "source",
    "why",
    "note",
    "size",
    "cosize",
    "injective",
    "exact",
    "exact_table",
    "cute_cpp",
    "cute_cpp_correct",
    "cute_cpp_error",
    "cpp_agrees",
    "pycute",
    "pycute_correct",
    "representable_compatible_with_B",
];

/// Further fields that rows of known answers have for single operations, by the operation's name.
const STATED: [(&str, &[&str]); 2] = [
    ("bank_conflicts", &["enumerated", "vector_elements"]),
    ("convert", &["path", "counts", "ops", "sass_ops", "predicated_shared_stores", "shared_bytes"]),
];

/// Finds the first field of a request whose name is in `camelCase`, if its operation has the field in `snake_case`;
/// returns the name as written, and in `snake_case`. `None` if there is no such field.
pub fn find_camel_case_field(request: &Json) -> Option<(&str, String)> {
    let known = known(request);
    let written = ignored_fields(request).into_iter().map(|given| (given, to_snake_case(given)));
    written.into_iter().find(|(given, written)| given != written && known.contains(&written.as_str()))
}

/// Returns the names of the fields of a request that its operation does not use.
pub fn ignored_fields(request: &Json) -> Vec<&str> {
    let known = known(request);
    let fields = request.as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str));
    if known.is_empty() { Vec::new() } else { fields.filter(|name| !known.contains(name)).collect() }
}

/// Returns the names of the fields that a request may have, by its operation; empty if it names no operation.
fn known(request: &Json) -> Vec<&'static str> {
    let Some(operation) = request.get("op").and_then(Json::as_str) else { return Vec::new() };
    let read: &[&str] = match OPERATIONS.iter().find(|(known, ..)| *known == operation) {
        Some((_, fields, _)) => fields,
        None if operation.starts_with("cute.") => &OF_CUTE,
        None => &["inputs", "target"],
    };
    let stated = STATED.iter().find(|(name, _)| *name == operation).map_or(&[][..], |(_, stated)| stated);
    [&OF_ROWS, read, stated].concat()
}
