//! Which fields of a request nothing reads: a misspelt one would otherwise be as good as none.

use serde_json::Value as Json;

use super::operations::OPERATIONS;

/// What every request may have: its name, its operation, and what the rows of known answers state of
/// themselves and of the answer.
const OF_ROWS: [&str; 7] = ["id", "op", "family", "expected", "expected_error", "unique", "element_bits"];

/// What known answers of CuTe's operations state besides.
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

/// What the rows of single operations state besides.
const STATED: [(&str, &[&str]); 2] = [
    ("bank_conflicts", &["enumerated", "vector_elements"]),
    ("convert", &["path", "counts", "ops", "sass_ops", "predicated_shared_stores", "shared_bytes"]),
];

/// The fields that the operation of a request does not know.
pub fn ignored(request: &Json) -> Vec<&str> {
    let (Some(fields), Some(operation)) = (request.as_object(), request.get("op").and_then(Json::as_str)) else {
        return Vec::new();
    };
    let read: &[&str] = match OPERATIONS.iter().find(|(known, ..)| *known == operation) {
        Some((_, fields, _)) => fields,
        None if operation.starts_with("cute.") => &OF_CUTE,
        None => &["inputs"],
    };
    let stated = STATED.iter().find(|(name, _)| *name == operation).map_or(&[][..], |(_, stated)| stated);
    let known = |name: &&str| OF_ROWS.contains(name) || read.contains(name) || stated.contains(name);
    fields.keys().map(String::as_str).filter(|name| !known(name)).collect()
}
