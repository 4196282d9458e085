//! Defines the rules of cache policies with levels and fractions, `#ttng.cache_policy`.

use tilewright_tile::rules::{Checked, check_words, ensure, policy_parameters};

/// The name of the policy.
pub(super) const NAME: &str = "#ttng.cache_policy";

/// Words of its parameters; none are listed for a parameter of any value.
const WORDS: [(&str, &[&str]); 6] = [
    ("cache_modifier", &["none", "ca", "cg", "wb", "cs", "wt", "cv"]),
    ("l1", &[]),
    ("l2_primary", &[]),
    ("l2_fraction", &[]),
    ("l2_secondary", &["evict_first", "evict_unchanged"]),
    ("l2_prefetch_size", &["64", "128", "256"]),
];

/// Checks the words of a policy, and that its parameters agree.
pub(super) fn check_policy(parameters: &str) -> Checked {
    check_words(NAME, parameters, &WORDS)?;
    let value_of = |key: &str| policy_parameters(parameters).find(|(known, _)| *known == key).map(|(_, value)| value);
    let has_modifier = value_of("cache_modifier").is_some_and(|modifier| modifier != "none");
    ensure(!has_modifier || value_of("l1").is_none(), || "`cache_modifier` and `l1`: expected one of them".to_owned())?;
    let Some(fraction) = value_of("l2_fraction").and_then(|value| value.parse::<f64>().ok()) else { return Ok(()) };
    ensure(fraction > 0.0 && fraction <= 1.0, || {
        format!("`l2_fraction = {fraction}`: expected a number above 0, up to 1")
    })
}
