//! Words and marks of one operation, with blanks where MLIR has them.

/// A text to which tokens are added.
#[derive(Default)]
pub(super) struct Line(String);

impl Line {
    /// Adds a token: after a blank, but for marks that stand close to what is before them or behind them.
    pub fn push(&mut self, token: &str) {
        let Some(first) = token.chars().next() else { return };
        let last = self.0.chars().last();
        let close = match (last, first) {
            (None, _) | (Some('(' | '[' | '<'), _) | (_, ',' | ')' | ']') => true,
            (Some(last), '[' | '(' | '<') if token.len() == 1 => !matches!(last, ',' | ':'),
            (_, '>') => token.len() == 1,
            _ => false,
        };
        if !close {
            self.0.push(' ');
        }
        self.0.push_str(token);
    }

    /// Adds a text right behind what is there.
    pub fn push_close(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}
