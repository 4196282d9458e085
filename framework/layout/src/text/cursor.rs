//! A place in a text: blanks, words, marks, quotes and numbers.

use std::str::FromStr;

use super::TextError;
use super::quoted::quoted;

/// The result of reading text.
pub type Parsed<T> = Result<T, TextError>;

/// A text and how far it has been read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    comment: Option<&'static str>,
    /// The byte that is read next.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Begins a text that has no comments.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, comment: None, at: 0 }
    }

    /// Begins a text whose comments run from a mark to the end of the line.
    #[must_use]
    pub fn with_comments(text: &'a str, mark: &'static str) -> Self {
        Self { text, comment: Some(mark), at: 0 }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text that has not been read.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The error at a byte of the text.
    #[must_use]
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

    /// The next character that is no blank.
    #[inline]
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// Whether nothing but blanks follows.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads the end of the text.
    ///
    /// # Errors
    /// [`TextError`] if more follows; `what` may stand here.
    pub fn end(&mut self, what: &str) -> Parsed<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Whether a word or mark stands here: no more letters follow a word, and `-` is not the first half of an arrow.
    #[inline]
    pub fn sees(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let ends = !token.ends_with(is_word) || !after.starts_with(is_word);
        ends && !(token == "-" && after.starts_with('>'))
    }

    /// Reads a word or mark if it stands here.
    #[inline]
    pub fn takes(&mut self, token: &str) -> bool {
        let there = self.sees(token);
        if there {
            self.at += token.len();
        }
        there
    }

    /// Reads a word or mark.
    ///
    /// # Errors
    /// [`TextError`] if another stands here.
    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.takes(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// A letter or underscore, then those, digits, `$` and `.`.
    pub fn take_word(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        self.starts_word().then(|| self.take_while(|c| is_word(c) || c == '.' || c == '$'))
    }

    /// As [`Cursor::take_word`].
    ///
    /// # Errors
    /// [`TextError`] that expects `what`.
    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        self.take_word().ok_or_else(|| self.expected(what))
    }

    /// A letter or underscore, then those and digits.
    ///
    /// # Errors
    /// [`TextError`] that expects `what`.
    pub fn identifier(&mut self, what: &str) -> Parsed<&'a str> {
        self.skip_blanks();
        if self.starts_word() { Ok(self.take_while(is_word)) } else { Err(self.expected(what)) }
    }

    fn starts_word(&self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The name that follows `%`, `^`, `@`, `#` or `!`.
    ///
    /// # Errors
    /// [`TextError`] that expects `what`.
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

    /// The characters from here on that are part of a token; blanks are not skipped.
    pub fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A whole number without sign, in decimal.
    ///
    /// # Errors
    /// [`TextError`] that expects `what`.
    pub fn decimal<T: FromStr>(&mut self, what: &str) -> Parsed<T> {
        self.skip_blanks();
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        digits.parse().map_err(|_| self.error(start, format!("`{digits}` is too large: expected {what}")))
    }

    /// A text in quotes.
    ///
    /// # Errors
    /// [`TextError`] that expects `what`, or says what is wrong between the quotes.
    pub fn quoted(&mut self, what: &str) -> Parsed<String> {
        if !self.sees("\"") {
            return Err(self.expected(what));
        }
        let (text, length) = quoted(self.rest()).map_err(|(at, message)| self.error(self.at + at, message))?;
        self.at += length;
        Ok(text)
    }

    /// Steps over everything up to the bracket that closes the one that must stand here, and gives it with both.
    ///
    /// # Errors
    /// [`TextError`] at a bracket that is never closed or closes nothing.
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

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a name can stand without quotes: a letter or underscore, then those and digits.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() && name.chars().all(is_word)
}
