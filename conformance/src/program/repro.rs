//! The command that runs one case again.

use super::arguments::Which;

/// The command line, as a shell takes it.
pub(super) fn repro(target: &str, name: &str, which: &Which) -> String {
    let mut words = vec!["conformance".to_owned(), "--target".to_owned(), target.to_owned()];
    words.extend(which.again().iter().map(|word| quoted(&word.to_string_lossy())));
    words.push(name.to_owned());
    words.join(" ")
}

/// A word as a shell takes it.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
