//! Checks of layout families' parameters, by texts that are valid or must be rejected.

use crate::prelude::*;
use tilewright_testkit::any_parameters::{self, Signature};

/// Checks that none of `count` random requests for a vendor's families panics, and that the layouts are surjective.
pub fn check_random_family_parameters(count: u32, signatures: &'static [Signature], families: &dyn Families) {
    let set = FamilyProviders::new(vec![&NeutralFamilies, families]);
    any_parameters::check_random_requests(count, signatures, &set, |layout| assert!(layout.linear().is_surjective()));
}

/// Checks that each text is no layout for a tensor of this shape, and that the error names the parameter and contains
/// the expected words.
#[track_caller]
pub fn check_errors_name_parameter(families: &dyn Families, shape: &[u64], texts: &[(String, &str, &str)]) {
    for (text, parameter, expected) in texts {
        let message = refusal(families, text, shape);
        assert!(message.contains(&format!("`{parameter}`")) && message.contains(expected), "{text}: {message}");
    }
}

/// Returns the families' error for a text that is not a valid layout for a tensor of this shape; panics if it is valid.
#[track_caller]
pub fn refusal(families: &dyn Families, text: &str, shape: &[u64]) -> String {
    let spec = parse_family_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).expect_err("the parameters are wrong").to_string()
}

/// Returns the layout that a text describes for a tensor of this shape; panics if it is not valid.
#[track_caller]
pub fn resolve_layout(families: &dyn Families, text: &str, shape: &[u64]) -> Layout {
    let spec = parse_family_spec(text).expect("the text is well formed");
    families.resolve(&spec, shape, families).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that an attribute text and a JSON text describe the same layout for a tensor of this shape.
#[track_caller]
pub fn check_same_layout(families: &dyn Families, text: &str, json: &str, shape: &[u64]) {
    assert_eq!(resolve_layout(families, text, shape), resolve_layout(families, json, shape));
}
