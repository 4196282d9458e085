//! The committed corpus of a fuzz target: the file `framework/fuzz/corpus/NAME.txt` with one input per line.
//!
//! Printable ASCII characters stand for themselves, except `\`, which starts the escapes `\\`, `\n`, `\r`, `\t` and
//! `\xNN` (a byte). Text inputs thus stay readable.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Returns the folder `framework/fuzz/corpus/NAME`. A fuzz target reads its inputs there, and adds inputs, one file
/// each. The folder is not committed.
#[must_use]
pub fn corpus_folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name)
}

/// Returns the path of the committed file with the inputs of a fuzz target.
#[must_use]
pub fn corpus_file(name: &str) -> PathBuf {
    corpus_folder(name).with_extension("txt")
}

/// Reads the committed inputs of a fuzz target.
///
/// # Errors
/// The file is missing or unreadable, or a line is malformed.
pub fn read_corpus(name: &str) -> io::Result<Vec<Vec<u8>>> {
    let lines = fs::read_to_string(corpus_file(name))?;
    lines.lines().enumerate().map(|(line, text)| parse_line(text).ok_or_else(|| wrong(name, line + 1))).collect()
}

/// Writes `inputs` as the committed corpus of a fuzz target.
///
/// # Errors
/// The file cannot be written.
pub fn write_corpus(name: &str, inputs: &[Vec<u8>]) -> io::Result<()> {
    let lines: String = inputs.iter().map(|input| format!("{}\n", escape_input(input))).collect();
    fs::write(corpus_file(name), lines)
}

/// Escapes an input as one line of the committed file.
#[must_use]
pub fn escape_input(input: &[u8]) -> String {
    let of = |&byte: &u8| match byte {
        b'\\' => "\\\\".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    input.iter().map(of).collect()
}

/// Parses one line of the committed file as an input; `None` if the line is malformed.
#[must_use]
pub fn parse_line(line: &str) -> Option<Vec<u8>> {
    let mut bytes = line.bytes();
    let mut input = Vec::with_capacity(line.len());
    while let Some(byte) = bytes.next() {
        let plain = match (byte, byte == b'\\') {
            (_, true) => escaped(&mut bytes)?,
            (b' '..=b'~', false) => byte,
            _ => return None,
        };
        input.push(plain);
    }
    Some(input)
}

fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    match bytes.next()? {
        b'\\' => Some(b'\\'),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'x' => {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()
        }
        _ => None,
    }
}

fn wrong(name: &str, line: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("corpus/{name}.txt, line {line}: no input"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(parse_line(&escape_input(&every)), Some(every));
        assert_eq!(escape_input(b"a\\\n\x00\xff"), "a\\\\\\n\\x00\\xff");
        for line in ["\\", "\\q", "\\x1", "\\xgg", "\u{e9}", "\u{1}"] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }
}
