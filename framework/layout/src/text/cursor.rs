//! A position in a text, and readers of blanks, words, punctuation, quotes and numbers.

use std::str::FromStr;

use super::TextError;
use super::quoted::quoted;

/// The result of reading a text, or the error with its position.
pub type Parsed<T> = Result<T, TextError>;

/// A text and the position of its next unread byte.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    comment: Option<&'static str>,
    /// Offset of the next byte to read.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of a text without comments.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, comment: None, at: 0 }
    }

    /// A cursor at the start of a text whose comments run from a mark to the end of the line.
    #[must_use]
    pub fn with_comments(text: &'a str, mark: &'static str) -> Self {
        Self { text, comment: Some(mark), at: 0 }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The unread text.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The error with this message at a byte of the text.
    #[must_use]
    pub fn error_at(&self, at: usize, message: impl Into<String>) -> TextError {
        TextError::new(self.text, at, message)
    }

    /// Returns the error that `what` was expected at the next token; the message names the token that was found.
    pub fn expected_token_error(&mut self, what: &str) -> TextError {
        self.skip_blanks();
        let found = match self.rest().chars().next() {
            None => "the end of the text".to_owned(),
            Some(c) if is_word(c) => format!("`{}`", self.rest().split(|c| !is_word(c)).next().unwrap_or_default()),
            Some(c) => format!("`{c}`"),
        };
        self.error_at(self.at, format!("expected {what}, found {found}"))
    }

    /// Skips blanks and comments.
    #[inline]
    pub fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            if !self.comment.is_some_and(|mark| rest.starts_with(mark)) {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Skips blanks and returns the next character without reading it; `None` at the end of the text.
    #[inline]
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// Whether nothing but blanks follows.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Checks that nothing follows in the text except blanks and comments.
    ///
    /// # Errors
    /// [`TextError`] if more follows; `what` is the expectation.
    pub fn expect_end(&mut self, what: &str) -> Parsed<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected_token_error(what)) }
    }

    /// Whether `token`, a word or punctuation, comes next: a word must end there, and `-` must not begin `->`.
    #[inline]
    pub fn is_next(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let ends = !token.ends_with(is_word) || !after.starts_with(is_word);
        ends && !(token == "-" && after.starts_with('>'))
    }

    /// Reads `token`, a word or punctuation, if it comes next; returns whether it does.
    #[inline]
    pub fn skip_if_next(&mut self, token: &str) -> bool {
        let there = self.is_next(token);
        if there {
            self.at += token.len();
        }
        there
    }

    /// Reads `token`, a word or punctuation.
    ///
    /// # Errors
    /// [`TextError`] if another token follows.
    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.skip_if_next(token) { Ok(()) } else { Err(self.expected_token_error(&format!("`{token}`"))) }
    }

    /// Reads a word: a letter or underscore, then letters, digits, `_`, `$` and `.`; `None` if none comes next.
    pub fn read_word(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        self.starts_word().then(|| self.take_while(|c| is_word(c) || c == '.' || c == '$'))
    }

    /// Reads a word as [`Cursor::read_word`], and fails if none comes next.
    ///
    /// # Errors
    /// [`TextError`] if no word comes next; the message expects `what`.
    pub fn expect_word(&mut self, what: &str) -> Parsed<&'a str> {
        self.read_word().ok_or_else(|| self.expected_token_error(what))
    }

    /// Reads an identifier: a letter or underscore, then letters, digits and underscores.
    ///
    /// # Errors
    /// [`TextError`] if no identifier comes next; the message expects `what`.
    pub fn read_identifier(&mut self, what: &str) -> Parsed<&'a str> {
        self.skip_blanks();
        if self.starts_word() { Ok(self.take_while(is_word)) } else { Err(self.expected_token_error(what)) }
    }

    fn starts_word(&self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Reads the name that follows `%`, `^`, `@`, `#` or `!`.
    ///
    /// # Errors
    /// [`TextError`] if no name follows; the message expects `what`.
    pub fn read_name_after_sigil(&mut self, what: &str) -> Parsed<&'a str> {
        let name = self.take_while(|c| is_word(c) || "$.-".contains(c));
        // An arrow directly after a name is no part of it.
        let name = match name.strip_suffix('-') {
            Some(shorter) if self.rest().starts_with('>') => {
                self.at -= 1;
                shorter
            }
            _ => name,
        };
        if name.is_empty() { Err(self.expected_token_error(what)) } else { Ok(name) }
    }

    /// Reads characters while they are part of a token, without skipping blanks.
    pub fn take_while(&mut self, is_accepted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_accepted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads an unsigned decimal integer.
    ///
    /// # Errors
    /// [`TextError`] if no digit comes next, or if the number does not fit `T`; the message expects `what`.
    pub fn read_decimal<T: FromStr>(&mut self, what: &str) -> Parsed<T> {
        self.skip_blanks();
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected_token_error(what));
        }
        digits.parse().map_err(|_| self.error_at(start, format!("`{digits}` is too large: expected {what}")))
    }

    /// Reads a quoted text.
    ///
    /// # Errors
    /// [`TextError`] that expects `what`, or names the fault between the quotes.
    pub fn read_quoted(&mut self, what: &str) -> Parsed<String> {
        if !self.is_next("\"") {
            return Err(self.expected_token_error(what));
        }
        let (text, length) = quoted(self.rest()).map_err(|(at, message)| self.error_at(self.at + at, message))?;
        self.at += length;
        Ok(text)
    }

    /// Reads from the opening bracket to its closing bracket and returns the text with both. Brackets in comments and
    /// quotes do not count.
    ///
    /// # Errors
    /// [`TextError`] at a bracket that is never closed or closes nothing.
    pub fn read_balanced(&mut self, opening: &str) -> Parsed<&'a str> {
        if !self.is_next(opening) {
            return Err(self.expected_token_error(&format!("`{opening}`")));
        }
        let start = self.at;
        let mut open = Vec::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(self.error_at(start, "this bracket is never closed"));
            };
            match c {
                '"' => {
                    self.read_quoted("a text")?;
                    continue;
                }
                _ if self.comment.is_some_and(|mark| self.rest().starts_with(mark)) => {
                    self.skip_blanks();
                    continue;
                }
                '<' | '(' | '[' | '{' => open.push(c),
                '-' if self.rest().starts_with("->") => self.at += 1,
                '>' | ')' | ']' | '}' if open.pop() != counterpart(c) => {
                    return Err(self.error_at(self.at, format!("`{c}` has no opening bracket")));
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

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a name is an identifier, which needs no quotes: a letter or underscore, then letters, digits and
/// underscores.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() && name.chars().all(is_word)
}
