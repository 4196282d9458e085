//! Quoted text as in MLIR.

use std::fmt::{self, Display, Formatter, Write};

/// Reads the quoted text at the start of `text`; returns it, and the number of bytes that it takes with its quotes.
/// `\"`, `\\`, `\n`, `\t`, and `\` with two hexadecimal digits stand for a byte.
///
/// # Errors
/// The offset of the faulty byte, and the fault.
pub(super) fn quoted(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().enumerate().skip(1);
    while let Some((index, byte)) = rest.next() {
        match byte {
            b'"' => {
                let text = String::from_utf8(bytes).map_err(|_| (0, "these bytes are not UTF-8"))?;
                return Ok((text, index + 1));
            }
            b'\\' => {
                let escaped = rest.next().and_then(|(_, first)| match first {
                    b'"' | b'\\' => Some(first),
                    b'n' => Some(b'\n'),
                    b't' => Some(b'\t'),
                    _ => rest.next().and_then(|(_, second)| hexadecimal(first, second)),
                });
                let wrong = "expected `\\\"`, `\\\\`, `\\n`, `\\t` or two hexadecimal digits after `\\`";
                bytes.push(escaped.ok_or((index, wrong))?);
            }
            b'\n' => return Err((0, "this quote is never closed")),
            _ => bytes.push(byte),
        }
    }
    Err((0, "this quote is never closed"))
}

fn hexadecimal(first: u8, second: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(first)? * 16 + digit(second)?).ok()
}

/// Displays a text in quotes, with escapes.
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
