//! What is read and said at most, so that no input takes all memory or fills a terminal.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use serde_json::Value as Json;

/// The bytes of a program, or of a case without its buffers.
pub const MOST_TEXT: u64 = 16 << 20;

/// The bytes of a buffer of a case.
pub const MOST_CONTENTS: u64 = 1 << 30;

/// The bytes of a question's `id`, written as JSON.
const MOST_ID: usize = 4096;

/// The bytes of what is said back of what was asked.
const MOST_SAID: usize = 4096;

/// The contents of a file of at most so many bytes. No more are read, so that a pipe without end is refused too.
pub fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("more than {most} bytes, the most that is read; make it smaller");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The text of a file of at most [`MOST_TEXT`] bytes.
pub fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file, MOST_TEXT)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// A text, cut where it is too long to be said.
pub fn brief(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_SAID {
        return text.into();
    }
    let shown = &text[..text.floor_char_boundary(MOST_SAID)];
    format!("{shown}... ({} bytes in all)", text.len()).into()
}

/// Whether an `id` can be said back.
///
/// # Errors
/// What is wrong and what to do.
pub fn check_id(id: &Json) -> Result<(), String> {
    let length = id.to_string().len();
    if length <= MOST_ID {
        return Ok(());
    }
    Err(format!("`id` has {length} bytes, and at most {MOST_ID} are said back: give a shorter one, or none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(brief("short"), "short");
        let said = brief(&"ä".repeat(MOST_SAID)).into_owned();
        assert!(said.ends_with(&format!("ä... ({} bytes in all)", 2 * MOST_SAID)) && said.len() < MOST_SAID + 40);
    }

    #[test]
    fn ids_of_any_usual_kind_are_said_back() {
        for id in [Json::Null, Json::from(7), Json::from("a name")] {
            assert_eq!(check_id(&id), Ok(()));
        }
        assert!(check_id(&Json::from("x".repeat(MOST_ID))).is_err());
    }
}
