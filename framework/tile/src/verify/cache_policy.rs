//! Defines the rules of cache policies, the attribute `cachePolicy` of accesses.

use super::{CheckResult, OpContext, ensure};

/// The name of the policy that every target has.
const NAME: &str = "#tt.cache_policy";

/// The words that a parameter of a policy can have, by the parameter's name.
const WORDS: [(&str, &[&str]); 2] = [
    ("cache_modifier", &["none", "ca", "cg", "wb", "cs", "wt", "cv"]),
    ("eviction_policy", &["evict_normal", "evict_first", "evict_last"]),
];

/// The cache modifiers that are rejected for each kind of access.
const NOT_OF: [(&str, &[&str]); 2] = [("load", &["wb", "wt"]), ("store", &["ca", "cv"])];

/// Checks rule `cache_policy(load)`: the words of the policy are known, and its modifier is allowed for loads (or
/// stores).
pub(super) fn cache_policy(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let Some(policy) = check.operation.attributes.get("cachePolicy") else { return Ok(()) };
    let text = policy.to_string();
    let parts = text.split_once('<').and_then(|(name, rest)| Some((name, rest.strip_suffix('>')?)));
    let Some((name, parameters)) = parts.filter(|(name, _)| name.ends_with(".cache_policy")) else {
        return Err(format!("`cachePolicy = {text}`: expected `#tt.cache_policy<...>`"));
    };
    if name == NAME {
        check_cache_policy_words(NAME, parameters, &WORDS)?;
    }
    check.rules().check_text(&text).unwrap_or(Ok(()))?;
    let access = arguments.first().map_or("", String::as_str);
    let refused = NOT_OF.iter().find(|(of, _)| *of == access).map_or(&[][..], |(_, words)| *words);
    let mut modifiers = parse_cache_policy_parameters(parameters).filter(|(key, _)| *key == "cache_modifier");
    let modifier = modifiers.next().map_or("none", |(_, value)| value);
    ensure(!refused.contains(&modifier), || format!("`cache_modifier = {modifier}` is not one of a {access}"))
}

/// The parameters of a cache policy, as pairs of name and value, in the order of `text`: `name = value : type, ...`.
pub fn parse_cache_policy_parameters(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.trim(), value.split(':').next().unwrap_or_default().trim()))
}

/// Checks that the parameters of the policy `name` are known, and have known words.
///
/// `known` lists each parameter with its words; an empty list of words allows any value.
///
/// # Errors
/// A message about the first parameter or word that is not known.
pub fn check_cache_policy_words(name: &str, parameters: &str, known: &[(&str, &[&str])]) -> CheckResult {
    for (key, value) in parse_cache_policy_parameters(parameters) {
        let Some((_, words)) = known.iter().find(|(parameter, _)| *parameter == key) else {
            return Err(format!("`{key}` is no parameter of `{name}`"));
        };
        ensure(words.is_empty() || words.contains(&value), || {
            format!("`{key} = {value}`: expected one of {}", words.join(", "))
        })?;
    }
    Ok(())
}
