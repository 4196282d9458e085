//! The parser's position in the text, with parsers of keywords, numbers and values.

use tilewright_layout::text::{Cursor, Parsed};

use crate::Value;

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    /// Nesting depth of the position: number of open regions.
    pub(super) depth: usize,
}

impl<'a> Parser<'a> {
    /// Starts a parser; comments run from `#` to the end of the line.
    pub(super) fn new(text: &'a str) -> Self {
        Self { cursor: Cursor::with_comments(text, "#"), depth: 0 }
    }

    /// The next token, which is not consumed: letters, digits, underscores and dots, as in a keyword, a name, a type or
    /// a number.
    pub(super) fn token(&self) -> &'a str {
        let mut lookahead = self.cursor;
        lookahead.skip_blanks();
        lookahead.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    }

    /// Consumes a token that [`Self::token`] returned.
    pub(super) fn consume(&mut self, token: &str) {
        self.cursor.skip_blanks();
        self.cursor.at += token.len();
    }

    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.token() == word;
        if found {
            self.consume(word);
        }
        found
    }

    pub(super) fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.cursor.expected_token_error(&format!("`{word}`"))) }
    }

    pub(super) fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        let token = self.token();
        let Some(number) = unsigned(token) else { return Err(self.cursor.expected_token_error(what)) };
        self.cursor.skip_blanks();
        let number = number.try_into();
        let number =
            number.map_err(|_| self.cursor.error_at(self.cursor.at, format!("`{token}` is too large for {what}")))?;
        self.consume(token);
        Ok(number)
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        match self.cursor.peek() {
            Some('"') => self.cursor.read_quoted(what),
            _ => self.cursor.read_identifier(what).map(str::to_owned),
        }
    }

    /// Parses a keyword, and returns the variant of `all` whose `name` it is. `what` describes the keyword in messages.
    pub(super) fn one_of<T: Copy>(&mut self, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
        let token = self.token();
        let Some(found) = all.iter().copied().find(|&variant| name(variant) == token) else {
            let names: Vec<_> = all.iter().map(|&variant| name(variant)).collect();
            return Err(self.cursor.expected_token_error(&format!("{what} ({})", names.join(", "))));
        };
        self.consume(token);
        Ok(found)
    }

    /// Whether the next token is a value.
    pub(super) fn is_at_value(&mut self) -> bool {
        self.cursor.peek() == Some('%')
    }

    pub(super) fn value(&mut self) -> Parsed<Value> {
        let what = "a value, as `%3`";
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if !self.cursor.skip_if_next("%") {
            return Err(self.cursor.expected_token_error(what));
        }
        let digits = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse().ok());
        number.map(Value).ok_or_else(|| self.cursor.error_at(start, format!("expected {what}, found `%{digits}`")))
    }

    /// Whether the next token is on the line of the previous one; optional parts of a statement do not start on a new
    /// line.
    pub(super) fn on_same_line(&mut self) -> bool {
        self.cursor.skip_blanks();
        let before = &self.cursor.text()[..self.cursor.at];
        !before[before.trim_end().len()..].contains('\n')
    }

    /// Parses comma-separated values; empty if no value follows.
    pub(super) fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        if self.on_same_line() && self.is_at_value() {
            values.push(self.value()?);
            while self.cursor.skip_if_next(",") {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    /// Parses this literal of an operation's text form: a keyword or punctuation.
    pub(super) fn literal(&mut self, literal: &str) -> Parsed<()> {
        match literal.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => self.keyword(literal),
            false => self.cursor.expect(literal),
        }
    }
}

/// Parses a decimal or, after `0x`, hexadecimal integer; `None` if the token is neither.
fn unsigned(token: &str) -> Option<u64> {
    match token.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}
