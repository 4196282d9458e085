//! A place in a text: blanks, words, marks, quotes and numbers of MLIR.

use super::TextError;
use tilewright_layout::quoted;

pub(super) type Parsed<T> = Result<T, TextError>;

/// A text and how far it has been read.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn error(&self, at: usize, message: impl Into<String>) -> TextError {
        TextError::new(self.text, at, message)
    }

    /// The error that something else was expected here.
    pub fn expected(&mut self, what: &str) -> TextError {
        self.skip_blanks();
        let found = match self.rest().chars().next() {
            None => "the end of the text".to_owned(),
            Some(c) if is_word(c) => format!("`{}`", self.rest().split(|c| !is_word(c)).next().unwrap_or_default()),
            Some(c) => format!("`{c}`"),
        };
        self.error(self.at, format!("expected {what}, found {found}"))
    }

    /// Steps over blanks and comments.
    pub fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            }
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// The next character that is no blank.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Whether a word or mark stands here: no more letters follow a word, and `-` is not the first half of an arrow.
    pub fn sees(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let ends = !token.ends_with(is_word) || !after.starts_with(is_word);
        ends && !(token == "-" && after.starts_with('>'))
    }

    pub fn takes(&mut self, token: &str) -> bool {
        let there = self.sees(token);
        if there {
            self.at += token.len();
        }
        there
    }

    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.takes(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// A letter or underscore, then those, digits, `$` and `.`.
    pub fn take_word(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        Some(self.take_while(|c| is_word(c) || c == '.' || c == '$'))
    }

    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        self.take_word().ok_or_else(|| self.expected(what))
    }

    /// What follows `%`, `^`, `@`, `#` or `!` as a name.
    pub fn suffix(&mut self, what: &str) -> Parsed<&'a str> {
        let name = self.take_while(|c| is_word(c) || "$.-".contains(c));
        // The arrow after a name without a blank is no part of it.
        let name = match name.strip_suffix('-') {
            Some(shorter) if self.rest().starts_with('>') => {
                self.at -= 1;
                shorter
            }
            _ => name,
        };
        if name.is_empty() { Err(self.expected(what)) } else { Ok(name) }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A whole number without sign, in decimal.
    pub fn take_decimal<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        self.skip_blanks();
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        digits.parse().map_err(|_| self.error(start, format!("`{digits}` is too large: expected {what}")))
    }

    /// A text in quotes.
    pub fn quoted(&mut self, what: &str) -> Parsed<String> {
        if !self.sees("\"") {
            return Err(self.expected(what));
        }
        let (text, length) = quoted(self.rest()).map_err(|(at, message)| self.error(self.at + at, message))?;
        self.at += length;
        Ok(text)
    }

    /// Steps over everything up to the bracket that closes the one that must stand here, and gives it with both.
    pub fn balanced(&mut self, opening: &str) -> Parsed<&'a str> {
        if !self.sees(opening) {
            return Err(self.expected(&format!("`{opening}`")));
        }
        let start = self.at;
        let mut open = Vec::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(self.error(start, "this bracket is never closed"));
            };
            match c {
                '"' => {
                    self.quoted("a text")?;
                    continue;
                }
                '<' | '(' | '[' | '{' => open.push(c),
                '-' if self.rest().starts_with("->") => self.at += 1,
                '>' | ')' | ']' | '}' if open.pop() != counterpart(c) => {
                    return Err(self.error(self.at, format!("`{c}` closes nothing")));
                }
                _ => {}
            }
            self.at += c.len_utf8();
            if open.is_empty() {
                return Ok(&self.text[start..self.at]);
            }
        }
    }
}

fn counterpart(closing: char) -> Option<char> {
    match closing {
        '>' => Some('<'),
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        _ => None,
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
