//! Text in quotes, as MLIR writes it.

use std::fmt::{self, Display, Formatter, Write};

/// The text in quotes with which `text` begins, and how many bytes it takes with them. In it `\"`, `\\`, `\n`, `\t` and
/// two hexadecimal digits after `\` stand for a byte.
///
/// # Errors
/// The byte where it is wrong, and how.
pub(super) fn quoted(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().enumerate().skip(1);
    while let Some((place, byte)) = rest.next() {
        match byte {
            b'"' => {
                let text = String::from_utf8(bytes).map_err(|_| (0, "these bytes are no UTF-8"))?;
                return Ok((text, place + 1));
            }
            b'\\' => {
                let escaped = rest.next().and_then(|(_, first)| match first {
                    b'"' | b'\\' => Some(first),
                    b'n' => Some(b'\n'),
                    b't' => Some(b'\t'),
                    _ => rest.next().and_then(|(_, second)| hexadecimal(first, second)),
                });
                let wrong = "expected `\\\"`, `\\\\`, `\\n`, `\\t` or two hexadecimal digits after `\\`";
                bytes.push(escaped.ok_or((place, wrong))?);
            }
            _ => bytes.push(byte),
        }
    }
    Err((0, "this quote is never closed"))
}

fn hexadecimal(first: u8, second: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(first)? * 16 + digit(second)?).ok()
}

/// A text in quotes, with escapes.
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                _ if c.is_ascii_control() => write!(f, "\\{:02X}", u32::from(c))?,
                _ => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
