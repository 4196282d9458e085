//! The name that a glob which matches no case was probably meant to be.

use std::collections::BTreeSet;

use tilewright_target::nearest;

/// Characters with a meaning in globs.
const META: [char; 7] = ['*', '?', '[', ']', '{', '}', ','];

/// A name of cases, or a leading part of one, or a word of one, that is near to what was typed.
pub(crate) fn suggestion(glob: &str, names: &[String]) -> Option<String> {
    let mut known = String::new();
    for word in glob.trim_end_matches('/').split('/') {
        let below = names.iter().filter_map(|name| name.strip_prefix(&known)?.split('/').next());
        let words: BTreeSet<&str> = below.collect();
        if word.contains(META) {
            return suggested_word(glob, names);
        }
        if !words.contains(word) {
            return nearest(word, words).map(|near| format!("{known}{near}"));
        }
        known += word;
        known.push('/');
    }
    None
}

/// A word that is near to the first part of a pattern that stands in no name.
fn suggested_word(glob: &str, names: &[String]) -> Option<String> {
    let words: BTreeSet<&str> = names.iter().flat_map(|name| name.split('/')).collect();
    let parts = glob.split(|c| c == '/' || META.contains(&c)).filter(|part| part.len() >= 3);
    let mut strange = parts.filter(|part| !names.iter().any(|name| name.contains(part)));
    nearest(strange.next()?, words).map(str::to_owned)
}

/// The end of a message that says so.
pub(crate) fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_first_word_that_is_wrong_is_mended() {
        let names = ["families/definition/blocked-rows/w4", "families/laws/slice/w4", "gather/rows-by-rows/axis0"];
        let names = names.map(str::to_owned);
        for (typed, meant) in [
            ("familes", Some("families")),
            ("families/defintion", Some("families/definition")),
            ("families/definition/blocked-row/w4", Some("families/definition/blocked-rows")),
            ("gahter/*", Some("gather")),
            ("*/bloked-rows*", Some("blocked-rows")),
            ("families/banana", None),
            ("x*", None),
        ] {
            assert_eq!(suggestion(typed, &names).as_deref(), meant, "{typed}");
        }
    }
}
