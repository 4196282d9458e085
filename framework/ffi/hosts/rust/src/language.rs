//! The language: `tile SIZE`, then lines `name = expression` over f32 with `+ - * ( )`, names and numbers.

use thiserror::Error;

/// A program.
#[derive(Debug, PartialEq)]
pub struct Program {
    /// Elements of a tile.
    pub tile: u32,
    /// What is assigned, in order.
    pub lines: Vec<(String, Expression)>,
}

/// What is computed.
#[derive(Debug, PartialEq)]
pub enum Expression {
    /// An input, or what was assigned before.
    Name(String),
    /// A number.
    Number(f32),
    /// Both sides of an operator.
    Both(char, Box<Expression>, Box<Expression>),
}

/// A program that is wrong.
#[derive(Debug, Error)]
#[error("line {line}: {message}")]
pub struct LanguageError {
    line: usize,
    message: String,
}

/// Reads a program.
pub fn read(text: &str) -> Result<Program, LanguageError> {
    let mut program = Program { tile: 0, lines: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        let wrong = |message: String| LanguageError { line: number + 1, message };
        let line = line.split('#').next().unwrap_or_default().trim();
        match (line.strip_prefix("tile "), line.split_once('=')) {
            _ if line.is_empty() => {}
            (Some(size), _) => {
                program.tile = size.trim().parse().map_err(|error| wrong(format!("a tile's size: {error}")))?
            }
            (_, Some(_)) if program.tile == 0 => return Err(wrong("say `tile SIZE` first".to_owned())),
            (_, Some((name, expression))) => {
                let expression = Reader { rest: expression.trim() }.whole().map_err(wrong)?;
                program.lines.push((name.trim().to_owned(), expression));
            }
            _ => return Err(wrong(format!("expected `name = expression`, found `{line}`"))),
        }
    }
    Ok(program)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn whole(mut self) -> Result<Expression, String> {
        let expression = self.sum()?;
        if self.rest.is_empty() { Ok(expression) } else { Err(format!("expected the end, found `{}`", self.rest)) }
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(&['*'], Self::factor)
    }

    fn chain(
        &mut self,
        operators: &[char],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut expression = part(self)?;
        while let Some(operator) = self.rest.chars().next().filter(|next| operators.contains(next)) {
            self.advance(1);
            expression = Expression::Both(operator, Box::new(expression), Box::new(part(self)?));
        }
        Ok(expression)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        if self.rest.starts_with('(') {
            self.advance(1);
            let inner = self.sum()?;
            if !self.rest.starts_with(')') {
                return Err("expected `)`".to_owned());
            }
            self.advance(1);
            return Ok(inner);
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(self.rest.len());
        let word = self.advance(end);
        match word.chars().next() {
            Some(first) if first.is_ascii_digit() => {
                word.parse().map(Expression::Number).map_err(|error| format!("`{word}`: {error}"))
            }
            Some(_) => Ok(Expression::Name(word.to_owned())),
            None => Err("expected a name, a number or `(`".to_owned()),
        }
    }

    /// Takes so many bytes, and the blanks behind them.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        word
    }
}
