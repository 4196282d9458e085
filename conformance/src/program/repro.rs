//! Formats the command that runs one case again.

use super::arguments::Which;

/// Returns the command line, for a shell, that runs the case `name` on `target` again.
pub(super) fn repro(target: &str, name: &str, which: &Which) -> String {
    let mut args = vec!["conformance".to_owned(), "--target".to_owned(), target.to_owned()];
    args.extend(which.to_command_line().iter().map(|arg| quoted(&arg.to_string_lossy())));
    args.push(name.to_owned());
    args.join(" ")
}

/// Quotes a word for a shell if necessary.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
