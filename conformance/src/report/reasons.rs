//! Groups the reasons for unsupported or skipped cases: reasons that differ only in their numbers are listed once.

use std::collections::BTreeMap;

use super::Tally;
use crate::Status;

/// A reason for the status of some cases, such as an unsupported feature, with these cases.
pub(super) struct Reason<'a> {
    pub(super) status: Status,
    /// The text of the reason, with `N` in place of each number that differs between the cases.
    pub(super) text: String,
    /// The names of the cases that have the reason.
    pub(super) names: Vec<&'a str>,
}

/// The pieces of a reason's text, with `N` in place of each number that differs between the cases, and the names of
/// these cases.
type Alike<'a> = (Vec<&'a str>, Vec<&'a str>);

/// Returns the reasons of a target's cases, by status and text.
pub(super) fn reasons(tally: &Tally) -> Vec<Reason<'_>> {
    let mut alike: BTreeMap<(Status, Vec<&str>), Alike<'_>> = BTreeMap::new();
    for ((status, text), names) in &tally.reasons {
        let pieces = pieces(text);
        let key = pieces.iter().map(|piece| if is_number(piece) { "N" } else { piece }).collect();
        let (merged, cases) = alike.entry((*status, key)).or_insert_with(|| (pieces.clone(), Vec::new()));
        for (merged, piece) in merged.iter_mut().zip(pieces).filter(|(merged, piece)| *merged != piece) {
            debug_assert!(is_number(piece), "other pieces are the key");
            *merged = "N";
        }
        cases.extend(names.iter().map(String::as_str));
    }
    let mut reasons = Vec::new();
    for ((status, _), (pieces, names)) in alike {
        reasons.push(Reason { status, text: pieces.concat(), names });
    }
    reasons
}

/// Splits a text at the boundaries of numbers: pieces are digits only or have no digit.
fn pieces(text: &str) -> Vec<&str> {
    let mut end = 0;
    let chunks = text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let piece = |chunk: &[u8]| {
        let begin = end;
        end += chunk.len();
        &text[begin..end]
    };
    chunks.map(piece).collect()
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_numbers_are_one() {
        let mut tally = Tally::default();
        for (text, name) in [
            ("a lane holds 300 of 255 registers", "a"),
            ("a lane holds 4096 of 255 registers", "b"),
            ("a lane holds 300 of 255 registers", "c"),
            ("ä 7", "d"),
            ("no 64-bit shuffles", "e"),
        ] {
            tally.reasons.entry((Status::Unsupported, text.to_owned())).or_default().push(name.to_owned());
        }
        let found: Vec<_> = reasons(&tally).into_iter().map(|reason| (reason.text, reason.names)).collect();
        let expected = [
            ("a lane holds N of 255 registers", vec!["a", "c", "b"]),
            ("no 64-bit shuffles", vec!["e"]),
            ("ä 7", vec!["d"]),
        ];
        assert_eq!(found, expected.map(|(text, names)| (text.to_owned(), names)));
    }
}
