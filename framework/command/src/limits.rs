//! Limits on inputs and quoted text, so that no input exhausts memory or fills a terminal.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use serde_json::Value as Json;

/// Max bytes of the text of a program, or of a test case without its buffers.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Max bytes of a buffer of a test case.
pub const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// Max bytes of a request's `id`, written as JSON.
const MOST_ID: usize = 4096;

/// Max bytes of input that a message quotes.
const MOST_ECHOED: usize = 4096;

/// Reads a file of at most `most` bytes. It reads no more than that, so an endless pipe is rejected too.
pub fn read_limited(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("more than {most} bytes, the limit; make it smaller");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a text file of at most [`MAX_TEXT_BYTES`] bytes.
pub fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read_limited(file, MAX_TEXT_BYTES)?)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Returns the text, shortened if it is too long to be quoted.
pub fn shorten(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_ECHOED {
        return text.into();
    }
    let shown = &text[..text.floor_char_boundary(MOST_ECHOED)];
    format!("{shown}... ({} bytes in all)", text.len()).into()
}

/// Checks that a request's `id` is short enough to be repeated in the answer.
///
/// # Errors
/// The reason why the `id` cannot be repeated, and a remedy.
pub fn check_id(id: &Json) -> Result<(), String> {
    let length = id.to_string().len();
    if length <= MOST_ID {
        return Ok(());
    }
    Err(format!("`id` has {length} bytes; at most {MOST_ID} are returned: use a shorter one, or none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(shorten("short"), "short");
        let shortened = shorten(&"ä".repeat(MOST_ECHOED)).into_owned();
        assert!(
            shortened.ends_with(&format!("ä... ({} bytes in all)", 2 * MOST_ECHOED))
                && shortened.len() < MOST_ECHOED + 40
        );
    }

    #[test]
    fn ids_of_any_usual_kind_are_echoed() {
        for id in [Json::Null, Json::from(7), Json::from("a name")] {
            assert_eq!(check_id(&id), Ok(()));
        }
        assert!(check_id(&Json::from("x".repeat(MOST_ID))).is_err());
    }
}
