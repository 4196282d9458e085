//! The place in a text that is being read, and the words, numbers and values that are read there.

use std::str::FromStr;

use super::error::ParseError;
use super::token::{Placed, Token, is_identifier};
use crate::Value;

pub(super) struct Parser<'a> {
    /// Never empty: [`Token::End`] is last.
    tokens: &'a [Placed],
    pub(super) at: usize,
    /// Regions that the place is in.
    pub(super) depth: usize,
}

/// What a parser read.
pub(super) type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    /// Begins with the first of the tokens, of which the last is [`Token::End`].
    pub(super) fn new(tokens: &'a [Placed]) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(super) fn error<T>(&self, message: String) -> Parsed<T> {
        let Placed { line, column, .. } = self.tokens[self.at];
        Err(ParseError { line, column, message })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.error(format!("found {}, expected {what}", self.peek().described()))
    }

    /// Steps over the token just looked at; the end stays.
    pub(super) fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn take_mark(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.step();
        }
        found
    }

    pub(super) fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.take_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(found) if found == word);
        if found {
            self.step();
        }
        found
    }

    pub(super) fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub(super) fn number<T: FromStr + TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        let number = match self.peek() {
            Token::Word(word) => unsigned(word),
            _ => None,
        };
        match number.map(T::try_from) {
            Some(Ok(number)) => {
                self.step();
                Ok(number)
            }
            Some(Err(_)) => self.error(format!("{} is too large for {what}", self.peek().described())),
            None => self.expected(what),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        let name = match self.peek() {
            Token::Word(word) if is_identifier(word) => word.clone(),
            Token::Quoted(text) => text.clone(),
            _ => return self.expected(what),
        };
        self.step();
        Ok(name)
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&mut self, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => all.iter().copied().find(|&variant| name(variant) == word),
            _ => None,
        };
        let Some(found) = found else {
            let names: Vec<_> = all.iter().map(|&variant| name(variant)).collect();
            return self.expected(&format!("{what}: {}", names.join(", ")));
        };
        self.step();
        Ok(found)
    }

    pub(super) fn value(&mut self) -> Parsed<Value> {
        let Token::Value(number) = *self.peek() else { return self.expected("a value, as `%3`") };
        self.step();
        Ok(Value(number))
    }

    /// Whether the next token stands on the line of the last one; what a statement may leave out
    /// does not begin on another line.
    pub(super) fn on_same_line(&self) -> bool {
        self.at > 0 && self.tokens[self.at].line == self.tokens[self.at - 1].line
    }

    /// Values with commas between them, none where none follows.
    pub(super) fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        if self.on_same_line() && matches!(self.peek(), Token::Value(_)) {
            values.push(self.value()?);
            while self.take_mark(',') {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    /// A string in quotes.
    pub(super) fn quoted(&mut self, what: &str) -> Parsed<String> {
        let Token::Quoted(text) = self.peek().clone() else { return self.expected(&format!("{what} in quotes")) };
        self.step();
        Ok(text)
    }

    /// A literal of an operation's text: a word or a mark.
    pub(super) fn literal(&mut self, literal: &str) -> Parsed<()> {
        let mut characters = literal.chars();
        match (characters.next(), characters.next()) {
            (Some(mark), None) if !mark.is_ascii_alphabetic() => self.mark(mark),
            _ => self.keyword(literal),
        }
    }
}

/// A number in decimal or, after `0x`, hexadecimal.
fn unsigned(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
