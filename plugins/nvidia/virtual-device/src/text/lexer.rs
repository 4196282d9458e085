//! Splits PTX text into tokens. An opcode with its modifiers is one token (`ld.global.v4.b32`), and so is a name with
//! its `%`, `$` and `.x` (`%tid.x`).

use super::PtxError;

/// A token of PTX text, with its line number (from 1).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) line: u32,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name, an opcode or a directive.
    Identifier(String),
    /// The low 64 bits of an integer literal.
    Integer(u64),
    /// The bits of a floating-point literal, and its width: 32 or 64 bits.
    Float(u64, u32),
    /// The characters of a string literal, without the quotes.
    Text(String),
    Symbol(char),
    /// A register that LLVM leaves undefined on purpose, by the name in its comment `implicit-def`.
    Undefined(String),
    End,
}

/// Start of the comment by which LLVM marks a register whose value may be anything.
const UNDEFINED: &str = "implicit-def: ";

/// Splits a text into tokens; the last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, PtxError> {
    let mut lexer = Lexer { rest: text, line: 1, tokens: Vec::new() };
    while lexer.next()? {}
    lexer.push(Kind::End);
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    tokens: Vec<Token>,
}

fn begins_identifier(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%' | '.')
}

fn continues_identifier(c: char) -> bool {
    begins_identifier(c) || c.is_ascii_digit()
}

impl<'a> Lexer<'a> {
    fn push(&mut self, kind: Kind) {
        self.tokens.push(Token { line: self.line, kind });
    }

    fn wrong(&self, message: impl Into<String>) -> PtxError {
        PtxError::new(self.line, message)
    }

    /// Consumes the next `bytes` bytes of the text and returns them. They must end at a character boundary.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Reads one token, or skips one whitespace character or comment; returns false at the end of the text.
    fn next(&mut self) -> Result<bool, PtxError> {
        let Some(first) = self.rest.chars().next() else { return Ok(false) };
        if first == '\n' {
            self.line += 1;
        }
        if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if self.rest.starts_with("//") {
            self.comment();
        } else if self.rest.starts_with("/*") {
            self.block_comment()?;
        } else if first.is_ascii_digit() {
            self.number()?;
        } else if begins_identifier(first) {
            self.identifier();
        } else if first == '"' {
            self.quoted()?;
        } else if "{}[](),;:+-|!@=<>*/&^~?".contains(first) {
            self.take(1);
            self.push(Kind::Symbol(first));
        } else {
            return Err(self.wrong(format!("`{}` does not begin a token of PTX", first.escape_default())));
        }
        Ok(true)
    }

    fn comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let comment = self.take(end);
        if let Some((_, name)) = comment.split_once(UNDEFINED) {
            self.push(Kind::Undefined(name.trim().to_owned()));
        }
    }

    fn block_comment(&mut self) -> Result<(), PtxError> {
        let end = self.rest.find("*/").ok_or_else(|| self.wrong("a comment begins here and does not end"))?;
        let comment = self.take(end + 2);
        self.line += comment.matches('\n').count() as u32;
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), PtxError> {
        let end = self.rest[1..].find(['"', '\n']).filter(|&end| self.rest[1 + end..].starts_with('"'));
        let end = end.ok_or_else(|| self.wrong("a text begins here and does not end on its line"))?;
        let text = self.take(end + 2);
        self.push(Kind::Text(text[1..=end].to_owned()));
        Ok(())
    }

    /// Reads a name, opcode or directive. It may contain `::`, but a single `:` ends it.
    fn identifier(&mut self) {
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        loop {
            let is_double = bytes[end..].starts_with(b"::");
            match bytes.get(end) {
                Some(&byte) if continues_identifier(byte.into()) => end += 1,
                Some(_) if is_double => end += 2,
                _ => break,
            }
        }
        let identifier = self.take(end).to_owned();
        self.push(Kind::Identifier(identifier));
    }

    /// Reads a number token: `12`, `0x1f`, `0b1`, `12U`, `0f3F800000`, `0d3FF0000000000000` or `1.5`.
    fn number(&mut self) -> Result<(), PtxError> {
        let continues_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let end = self.rest.find(|c| !continues_number(c)).unwrap_or(self.rest.len());
        let text = self.take(end);
        let kind = number(text).ok_or_else(|| self.wrong(format!("`{text}` is not a number of PTX")))?;
        self.push(kind);
        Ok(())
    }
}

fn number(text: &str) -> Option<Kind> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    let unsuffixed = text.trim_end_matches('U');
    if let Some(digits) = text.strip_prefix("0f").or(text.strip_prefix("0F")).filter(|digits| digits.len() == 8) {
        return Some(Kind::Float(radix(digits, 16)?, 32));
    }
    if let Some(digits) = text.strip_prefix("0d").or(text.strip_prefix("0D")).filter(|digits| digits.len() == 16) {
        return Some(Kind::Float(radix(digits, 16)?, 64));
    }
    if let Some(digits) = unsuffixed.strip_prefix("0x").or(unsuffixed.strip_prefix("0X")) {
        return Some(Kind::Integer(radix(digits, 16)?));
    }
    if let Some(digits) = unsuffixed.strip_prefix("0b").or(unsuffixed.strip_prefix("0B")) {
        return Some(Kind::Integer(radix(digits, 2)?));
    }
    if text.contains('.') {
        return Some(Kind::Float(text.parse::<f64>().ok()?.to_bits(), 64));
    }
    let octal = unsuffixed.len() > 1 && unsuffixed.starts_with('0');
    Some(Kind::Integer(radix(unsuffixed, if octal { 8 } else { 10 })?))
}
