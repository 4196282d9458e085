//! A place among tokens.

use super::PtxError;
use super::lexer::{Kind, Token};

pub(super) struct Cursor {
    tokens: Vec<Token>,
    at: usize,
    /// Open brackets of operands, so that none makes the reader recurse without end.
    depth: u32,
}

/// Operands nest no deeper.
const DEEPEST: u32 = 16;

impl Cursor {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    /// The token here; the last one is the end.
    pub(super) fn kind(&self) -> &Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }

    /// The token after this one.
    pub(super) fn following(&self) -> &Kind {
        self.tokens.get(self.at + 1).map_or(&Kind::End, |token| &token.kind)
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, PtxError>) -> Result<T, PtxError> {
        if self.depth == DEEPEST {
            return Err(PtxError::new(self.line(), format!("operands nest {DEEPEST} deep at most")));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    pub(super) fn expected(&self, what: &str) -> PtxError {
        let found = match self.kind() {
            Kind::Word(word) | Kind::Undefined(word) => format!("`{word}`"),
            Kind::Integer(value) => format!("`{value}`"),
            Kind::Float(bits, _) => format!("the number {bits:#x}"),
            Kind::Text(text) => format!("the text \"{text}\""),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::End => "the end".to_owned(),
        };
        PtxError::new(self.line(), format!("expected {what}, found {found}"))
    }

    pub(super) fn is(&self, symbol: char) -> bool {
        *self.kind() == Kind::Symbol(symbol)
    }

    /// Takes a symbol where it stands here.
    pub(super) fn takes(&mut self, symbol: char) -> bool {
        let is = self.is(symbol);
        self.at += usize::from(is);
        is
    }

    pub(super) fn symbol(&mut self, symbol: char) -> Result<(), PtxError> {
        if self.takes(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// The word here, which is not taken.
    pub(super) fn peeked(&self) -> Option<&str> {
        match self.kind() {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is = self.peeked() == Some(word);
        self.at += usize::from(is);
        is
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String, PtxError> {
        let Kind::Word(word) = self.kind() else { return Err(self.expected(what)) };
        let word = word.clone();
        self.at += 1;
        Ok(word)
    }

    /// An integer, which may have a sign.
    pub(super) fn integer(&mut self, what: &str) -> Result<u64, PtxError> {
        let negative = self.takes('-');
        let Kind::Integer(value) = *self.kind() else { return Err(self.expected(what)) };
        self.at += 1;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    /// Leaves everything out up to this symbol, and takes it.
    pub(super) fn skip_past(&mut self, symbol: char) -> Result<(), PtxError> {
        while !self.takes(symbol) {
            if *self.kind() == Kind::End {
                return Err(self.expected(&format!("`{symbol}`")));
            }
            self.at += 1;
        }
        Ok(())
    }
}
