//! Joins the tokens of an operation to a line, with blanks where MLIR's printer has them.

/// A line of text under construction.
#[derive(Default)]
pub(super) struct Line(String);

impl Line {
    /// Appends a token, after a blank unless the token or the one before it is punctuation that attaches without one.
    pub fn push_token(&mut self, token: &str) {
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

    /// Whether the line ends with a keyword, so that an opening bracket follows after a blank.
    fn ends_with_keyword(&self) -> bool {
        self.0.rsplit_once(' ').is_some_and(|(_, word)| word.chars().all(|c| c.is_ascii_lowercase()))
    }

    /// Appends a text without a blank.
    pub fn push_without_space(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}
