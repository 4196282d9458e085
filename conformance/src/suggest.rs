//! Suggests the case name that the user probably meant by a glob that matches nothing.

use std::collections::BTreeSet;

use tilewright_target::find_similar_name;

/// Characters with a special meaning in globs.
const META: [char; 7] = ['*', '?', '[', ']', '{', '}', ','];

/// Returns a case name, or a leading part or a component of one, that is similar to the glob; `None` if there is none.
pub(crate) fn suggestion(glob: &str, names: &[String]) -> Option<String> {
    let mut known = String::new();
    for word in glob.trim_end_matches('/').split('/') {
        let below = names.iter().filter_map(|name| name.strip_prefix(&known)?.split('/').next());
        let words: BTreeSet<&str> = below.collect();
        if word.contains(META) {
            return suggested_name_part(glob, names);
        }
        if !words.contains(word) {
            return find_similar_name(word, words).map(|near| format!("{known}{near}"));
        }
        known += word;
        known.push('/');
    }
    None
}

/// Returns a component of a name that is similar to the first literal part of the glob that no name contains; `None` if
/// there is no such part or component.
fn suggested_name_part(glob: &str, names: &[String]) -> Option<String> {
    let words: BTreeSet<&str> = names.iter().flat_map(|name| name.split('/')).collect();
    let literals = glob.split(|c| c == '/' || META.contains(&c)).filter(|literal| literal.len() >= 3);
    let mut strange = literals.filter(|literal| !names.iter().any(|name| name.contains(literal)));
    find_similar_name(strange.next()?, words).map(str::to_owned)
}

/// Returns the end of an error message that suggests `near`; empty without a suggestion.
pub(crate) fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_first_wrong_name_part_is_suggested() {
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
