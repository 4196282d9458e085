//! Defines the rules of the attribute `#ttng.cache_policy`, which states cache levels and fractions.

use tilewright_tile::rules::{CheckResult, check_cache_policy_words, ensure, parse_cache_policy_parameters};

/// The name of the attribute that states a cache policy.
pub(super) const NAME: &str = "#ttng.cache_policy";

/// The parameters of a cache policy, each with its permitted values; an empty list permits any value.
const WORDS: [(&str, &[&str]); 6] = [
    ("cache_modifier", &["none", "ca", "cg", "wb", "cs", "wt", "cv"]),
    ("l1", &[]),
    ("l2_primary", &[]),
    ("l2_fraction", &[]),
    ("l2_secondary", &["evict_first", "evict_unchanged"]),
    ("l2_prefetch_size", &["64", "128", "256"]),
];

/// Checks the text in the angle brackets of a cache policy. Names and values of parameters must be known,
/// `cache_modifier` and `l1` exclude each other, and `l2_fraction` must be above 0 and at most 1.
pub(super) fn check_policy(parameters: &str) -> CheckResult {
    check_cache_policy_words(NAME, parameters, &WORDS)?;
    let value_of =
        |key: &str| parse_cache_policy_parameters(parameters).find(|(known, _)| *known == key).map(|(_, value)| value);
    let has_modifier = value_of("cache_modifier").is_some_and(|modifier| modifier != "none");
    ensure(!has_modifier || value_of("l1").is_none(), || "`cache_modifier` and `l1`: expected one of them".to_owned())?;
    let Some(fraction) = value_of("l2_fraction").and_then(|value| value.parse::<f64>().ok()) else { return Ok(()) };
    ensure(fraction > 0.0 && fraction <= 1.0, || {
        format!("`l2_fraction = {fraction}`: expected a number above 0, up to 1")
    })
}
