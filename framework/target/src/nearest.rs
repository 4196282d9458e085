//! The known name that a mistyped one was probably meant to be.

/// The name in `known` that is nearest to `word`, if one is near enough to be worth offering: one
/// that contains it, or differs in at most a third of its letters.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let rated = known.into_iter().filter_map(|name| {
        let distance = edits(&word, &name.to_lowercase());
        let close = 3 * distance <= word.chars().count().max(name.chars().count());
        let part = word.len() >= 3 && name.contains(&word);
        (close || part).then_some((distance, name))
    });
    rated.min().map(|(_, name)| name)
}

/// The least number of letters to insert, remove or replace, or of neighbours to exchange, that
/// turns one word into the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
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
