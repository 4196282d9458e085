//! Suggestions for mistyped names.

/// Returns the name in `known` nearest to `word` that is close enough to suggest: the name contains `word` (of three
/// letters or more), or differs in at most a third of the letters. `None` if none is close.
#[must_use]
pub fn find_similar_name<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    let rated = known.into_iter().filter_map(|name| {
        let (shorter, longer) = (letters.min(name.chars().count()), letters.max(name.chars().count()));
        let is_substring = word.len() >= 3 && name.contains(&word);
        // The distance is at least the difference of the lengths: a long word costs nothing.
        if !is_substring && 3 * (longer - shorter) > longer {
            return None;
        }
        let distance = strsim::osa_distance(&word, &name.to_lowercase());
        (is_substring || 3 * distance <= longer).then_some((distance, name))
    });
    rated.min().map(|(_, name)| name)
}

/// Returns the end of a message about an unknown name: suggests the nearest known name, or lists the known names if
/// none is near.
#[must_use]
pub fn similar_name_hint<S: AsRef<str>>(known: &[S], name: &str) -> String {
    let names = || known.iter().map(S::as_ref);
    match find_similar_name(name, names()) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; known are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{find_similar_name, similar_name_hint};

    #[test]
    fn offers_the_name_that_was_meant() {
        let known = ["a100", "gh200", "h100", "max1550", "mi250", "mi300x", "rtx4090"];
        for (typed, meant) in [
            ("mi300", Some("mi300x")),
            ("H100", Some("h100")),
            ("mi520", Some("mi250")),
            ("4090", Some("rtx4090")),
            ("gh100", Some("gh200")),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(find_similar_name(typed, known), meant, "{typed}");
        }
    }

    /// A word of ten megabytes is compared by its length alone.
    #[test]
    fn long_words_are_rejected_by_their_length() {
        let word = "a".repeat(10_000_000);
        assert_eq!(find_similar_name(&word, ["a100", "h100"]), None);
        assert_eq!(similar_name_hint(&["a100", "h100"], &word), "; known are a100, h100");
    }
}
