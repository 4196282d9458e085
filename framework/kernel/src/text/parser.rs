//! The place in a text that is being read, and the words, numbers and values that are read there.

use tilewright_layout::text::{Cursor, Parsed};

use crate::Value;

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    /// Regions that the place is in.
    pub(super) depth: usize,
}

impl<'a> Parser<'a> {
    /// Begins a text; comments run from `#` to the end of the line.
    pub(super) fn new(text: &'a str) -> Self {
        Self { cursor: Cursor::with_comments(text, "#"), depth: 0 }
    }

    /// The letters, digits, underscores and dots that stand here: a keyword, a name, a type or a number.
    pub(super) fn token(&self) -> &'a str {
        let mut ahead = self.cursor;
        ahead.skip_blanks();
        ahead.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    }

    /// Steps over a token that was just looked at.
    pub(super) fn step(&mut self, token: &str) {
        self.cursor.skip_blanks();
        self.cursor.at += token.len();
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.token() == word;
        if found {
            self.step(word);
        }
        found
    }

    pub(super) fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.cursor.expected(&format!("`{word}`"))) }
    }

    pub(super) fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        let token = self.token();
        let Some(number) = unsigned(token) else { return Err(self.cursor.expected(what)) };
        self.cursor.skip_blanks();
        let number = number.try_into();
        let number =
            number.map_err(|_| self.cursor.error(self.cursor.at, format!("`{token}` is too large for {what}")))?;
        self.step(token);
        Ok(number)
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        match self.cursor.peek() {
            Some('"') => self.cursor.quoted(what),
            _ => self.cursor.identifier(what).map(str::to_owned),
        }
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&mut self, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
        let token = self.token();
        let Some(found) = all.iter().copied().find(|&variant| name(variant) == token) else {
            let names: Vec<_> = all.iter().map(|&variant| name(variant)).collect();
            return Err(self.cursor.expected(&format!("{what} ({})", names.join(", "))));
        };
        self.step(token);
        Ok(found)
    }

    /// Whether a value stands here.
    pub(super) fn sees_value(&mut self) -> bool {
        self.cursor.peek() == Some('%')
    }

    pub(super) fn value(&mut self) -> Parsed<Value> {
        let what = "a value, as `%3`";
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if !self.cursor.takes("%") {
            return Err(self.cursor.expected(what));
        }
        let digits = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse().ok());
        number.map(Value).ok_or_else(|| self.cursor.error(start, format!("expected {what}, found `%{digits}`")))
    }

    /// Whether the next token stands on the line of the last one; what a statement may leave out
    /// does not begin on another line.
    pub(super) fn on_same_line(&mut self) -> bool {
        self.cursor.skip_blanks();
        let before = &self.cursor.text()[..self.cursor.at];
        !before[before.trim_end().len()..].contains('\n')
    }

    /// Values with commas between them, none where none follows.
    pub(super) fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        if self.on_same_line() && self.sees_value() {
            values.push(self.value()?);
            while self.cursor.takes(",") {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    /// A literal of an operation's text: a word or a mark.
    pub(super) fn literal(&mut self, literal: &str) -> Parsed<()> {
        match literal.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => self.keyword(literal),
            false => self.cursor.expect(literal),
        }
    }
}

/// A number in decimal or, after `0x`, hexadecimal.
fn unsigned(token: &str) -> Option<u64> {
    match token.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}
