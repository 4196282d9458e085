//! Parameters of families, as texts that name layouts or are refused.

use crate::prelude::*;

/// The error of the families for a text that is no layout of a shape.
#[track_caller]
pub fn refusal(families: &dyn Families, text: &str, shape: &[u64]) -> String {
    let spec = parse_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).expect_err("the parameters are wrong").to_string()
}

/// The layout that a text names.
#[track_caller]
pub fn layout(families: &dyn Families, text: &str, shape: &[u64]) -> Layout {
    let spec = parse_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Attribute text and JSON name the same layout of a shape.
#[track_caller]
pub fn are_the_same(families: &dyn Families, text: &str, json: &str, shape: &[u64]) {
    assert_eq!(layout(families, text, shape), layout(families, json, shape));
}
