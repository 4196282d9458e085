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
            (Some(last), '[' | '(' | '<') if token.len() == 1 => {
                !matches!(last, ',' | ':' | '=') && !self.ends_with_keyword()
            }
            (_, '>') => token.len() == 1,
            _ => false,
        };
        if !close {
            self.0.push(' ');
        }
        self.0.push_str(token);
    }

    /// Whether the last word is one before which a blank stands: neither a value nor the operation's name.
    fn ends_with_keyword(&self) -> bool {
        self.0.rsplit_once(' ').is_some_and(|(_, word)| word.chars().all(|c| c.is_ascii_lowercase()))
    }

    /// Adds a text right behind what is there.
    pub fn push_close(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}
