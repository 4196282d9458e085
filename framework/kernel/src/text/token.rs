//! Splits text into words, numbers of values, strings and marks, each with its place.

use super::error::ParseError;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Letters, digits, underscores and dots: keywords, names, types and numbers alike.
    Word(String),
    /// `%` and a number.
    Value(u32),
    /// A quoted string, its escapes resolved.
    Quoted(String),
    /// A single character.
    Mark(char),
    /// The end of the text.
    End,
}

impl Token {
    /// The token as a message names it.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Value(number) => format!("`%{number}`"),
            Self::Quoted(_) => "a string".to_owned(),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// A token and where it begins.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The tokens of the text, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1, column: 1 };
    let mut found = Vec::new();
    loop {
        reader.skip_blanks();
        let (line, column) = (reader.line, reader.column);
        let token = reader.token().map_err(|message| ParseError { line, column, message })?;
        let end = token == Token::End;
        found.push(Placed { token, line, column });
        if end {
            return Ok(found);
        }
    }
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    column: usize,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// Skips white space and comments, which run from `#` to the end of the line.
    fn skip_blanks(&mut self) {
        while let Some(&c) = self.rest.peek() {
            if c == '#' {
                while self.rest.peek().is_some_and(|&c| c != '\n') {
                    self.next();
                }
            } else if c.is_whitespace() {
                self.next();
            } else {
                return;
            }
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(&c) = self.rest.peek().filter(|&&c| is_word(c)) {
            word.push(c);
            self.next();
        }
        word
    }

    fn token(&mut self) -> Result<Token, String> {
        match self.rest.peek().copied() {
            None => Ok(Token::End),
            Some(c) if is_word(c) => Ok(Token::Word(self.word())),
            Some('%') => {
                self.next();
                let word = self.word();
                let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
                let number = word.parse().ok().filter(|_| digits);
                number.map(Token::Value).ok_or_else(|| format!("`%{word}`: expected the number of a value, as `%12`"))
            }
            Some('"') => self.quoted(),
            Some(c) if "(){}:=,+-".contains(c) => {
                self.next();
                Ok(Token::Mark(c))
            }
            Some(c) => Err(format!("unexpected character `{}`", c.escape_default())),
        }
    }

    fn quoted(&mut self) -> Result<Token, String> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err("the string does not end on its line".to_owned()),
                Some('"') => return Ok(Token::Quoted(text)),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    _ => return Err("unknown escape in the string; there are `\\\"`, `\\\\` and `\\n`".to_owned()),
                },
                Some(c) => text.push(c),
            }
        }
    }
}

/// Whether a name stands in text as it is: letters, digits and underscores, not beginning with a
/// digit. Others are quoted.
pub(crate) fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}
