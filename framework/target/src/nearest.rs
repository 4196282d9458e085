//! Suggestions for mistyped names.

/// Returns the name in `known` nearest to `word` that is close enough to suggest: the name contains `word` (of three
/// letters or more), or differs in at most a third of the letters. `None` if none is close.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let rated = known.into_iter().filter_map(|name| {
        let distance = strsim::osa_distance(&word, &name.to_lowercase());
        let close = 3 * distance <= word.chars().count().max(name.chars().count());
        let is_substring = word.len() >= 3 && name.contains(&word);
        (close || is_substring).then_some((distance, name))
    });
    rated.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
