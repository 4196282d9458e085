//! A cursor over the tokens of PTX text, which the parser consumes one by one.

use super::PtxError;
use super::lexer::{Kind, Token};

pub(super) struct Cursor {
    tokens: Vec<Token>,
    at: usize,
    /// Number of open brackets around the current token; limited to [`DEEPEST`] so that the parser's recursion is
    /// bounded.
    depth: u32,
}

/// Maximum nesting of brackets in operands.
const DEEPEST: u32 = 16;

impl Cursor {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    /// Returns the current token; [`Kind::End`] after the last token.
    pub(super) fn kind(&self) -> &Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }

    /// Returns the token after the current one, without consuming any.
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
            Kind::Identifier(identifier) | Kind::Undefined(identifier) => format!("`{identifier}`"),
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

    /// Consumes the current token if it is this symbol; returns whether it was.
    pub(super) fn takes(&mut self, symbol: char) -> bool {
        let is = self.is(symbol);
        self.at += usize::from(is);
        is
    }

    pub(super) fn symbol(&mut self, symbol: char) -> Result<(), PtxError> {
        if self.takes(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Returns the current token without consuming it if it is a name, opcode or directive; `None` otherwise.
    pub(super) fn peeked(&self) -> Option<&str> {
        match self.kind() {
            Kind::Identifier(identifier) => Some(identifier),
            _ => None,
        }
    }

    pub(super) fn takes_identifier(&mut self, identifier: &str) -> bool {
        let is = self.peeked() == Some(identifier);
        self.at += usize::from(is);
        is
    }

    pub(super) fn identifier(&mut self, what: &str) -> Result<String, PtxError> {
        let Kind::Identifier(identifier) = self.kind() else { return Err(self.expected(what)) };
        let identifier = identifier.clone();
        self.at += 1;
        Ok(identifier)
    }

    /// Consumes an integer with an optional minus sign; `what` names the expected integer in the error message.
    pub(super) fn integer(&mut self, what: &str) -> Result<u64, PtxError> {
        let negative = self.takes('-');
        let Kind::Integer(value) = *self.kind() else { return Err(self.expected(what)) };
        self.at += 1;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    /// Consumes all tokens up to and including this symbol.
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
