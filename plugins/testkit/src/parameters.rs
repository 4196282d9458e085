//! Checks of layout families' parameters: texts that name layouts or are rejected.

use crate::prelude::*;

/// Returns the families' error for a text that names no layout of the shape.
#[track_caller]
pub fn refusal(families: &dyn Families, text: &str, shape: &[u64]) -> String {
    let spec = parse_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).expect_err("the parameters are wrong").to_string()
}

/// Returns the layout of the shape that a text names.
#[track_caller]
pub fn layout(families: &dyn Families, text: &str, shape: &[u64]) -> Layout {
    let spec = parse_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that attribute text and JSON name the same layout of a shape.
#[track_caller]
pub fn are_the_same(families: &dyn Families, text: &str, json: &str, shape: &[u64]) {
    assert_eq!(layout(families, text, shape), layout(families, json, shape));
}
