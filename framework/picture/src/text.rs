//! Formats lists and ranges of numbers as text.

use std::fmt::Display;

/// Formats items with a separator between them.
pub(crate) fn join<T: Display>(items: impl IntoIterator<Item = T>, separator: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(separator)
}

/// Formats a range of numbers: `8-15`, or `8` for one number.
pub(crate) fn from_to(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Formats numbers in ascending order, consecutive ones as ranges: `0-3,8`.
pub(crate) fn ranges(numbers: &[u64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    join(sorted.chunk_by(|a, b| a + 1 == *b).map(|piece| from_to(piece[0], piece[piece.len() - 1])), ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_ranges() {
        assert_eq!(ranges(&[4, 0, 2, 1, 9, 8]), "0-2,4,8-9");
        assert_eq!(ranges(&[]), "");
    }
}
