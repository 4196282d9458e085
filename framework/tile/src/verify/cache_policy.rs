//! Rules of cache policies, the attribute `cachePolicy` of accesses.

use super::{Check, Checked, ensure};

/// Words of a policy's parameters, by the attribute's name and the parameter's.
const WORDS: [(&str, &str, &[&str]); 5] = [
    ("#tt.cache_policy", "cache_modifier", &["none", "ca", "cg", "wb", "cs", "wt", "cv"]),
    ("#tt.cache_policy", "eviction_policy", &["evict_normal", "evict_first", "evict_last"]),
    ("#ttng.cache_policy", "cache_modifier", &["none", "ca", "cg", "wb", "cs", "wt", "cv"]),
    ("#ttng.cache_policy", "l2_secondary", &["evict_first", "evict_unchanged"]),
    ("#ttng.cache_policy", "l2_prefetch_size", &["64", "128", "256"]),
];

/// Parameters of `#ttng.cache_policy` whose values are not listed above.
const FREE: [&str; 3] = ["l1", "l2_primary", "l2_fraction"];

/// Modifiers that loads and stores do not have.
const NOT_OF: [(&str, &[&str]); 2] = [("load", &["wb", "wt"]), ("store", &["ca", "cv"])];

/// `cache_policy(load)`: the policy has known words, which a load (or a store) may have.
pub(super) fn cache_policy(check: &Check<'_>, arguments: &[String]) -> Checked {
    let Some(policy) = check.operation.attributes.get("cachePolicy") else { return Ok(()) };
    let text = policy.to_string();
    let parts = text.split_once('<').and_then(|(name, rest)| Some((name, rest.strip_suffix('>')?)));
    let Some((name, parameters)) = parts.filter(|(name, _)| name.ends_with(".cache_policy")) else {
        return Err(format!("`cachePolicy = {text}`: expected `#tt.cache_policy<...>`"));
    };
    let pairs: Vec<(&str, &str)> = parameters
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.trim(), value.split(':').next().unwrap_or_default().trim()))
        .collect();
    for (key, value) in &pairs {
        let known = WORDS.iter().find(|(of, parameter, _)| *of == name && parameter == key).map(|(_, _, words)| *words);
        let is_free = name == "#ttng.cache_policy" && FREE.contains(key);
        let Some(words) = known else {
            ensure(is_free || !["#tt.cache_policy", "#ttng.cache_policy"].contains(&name), || {
                format!("`{key}` is no parameter of `{name}`")
            })?;
            continue;
        };
        ensure(words.contains(value), || format!("`{key} = {value}`: expected one of {}", words.join(", ")))?;
    }
    let value_of = |key: &str| pairs.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let modifier = value_of("cache_modifier").unwrap_or("none");
    if name == "#ttng.cache_policy" {
        ensure(modifier == "none" || value_of("l1").is_none(), || {
            "`cache_modifier` and `l1`: expected one of them".to_owned()
        })?;
        if let Some(fraction) = value_of("l2_fraction").and_then(|value| value.parse::<f64>().ok()) {
            ensure(fraction > 0.0 && fraction <= 1.0, || {
                format!("`l2_fraction = {fraction}`: expected a number above 0, up to 1")
            })?;
        }
    }
    let access = arguments.first().map_or("", String::as_str);
    let refused = NOT_OF.iter().find(|(of, _)| *of == access).map_or(&[][..], |(_, words)| *words);
    ensure(!refused.contains(&modifier), || format!("`cache_modifier = {modifier}` is not one of a {access}"))
}
