//! The tile language: `tile SIZE`, then lines `name = expression` over f32 with `+ - * ( )`, names and numbers.

use thiserror::Error;

/// A program of the tile language.
#[derive(Debug, PartialEq)]
pub struct ElementwiseProgram {
    /// Number of elements of a tile.
    pub tile: u32,
    /// The assignments, each of an expression to a name, in order.
    pub lines: Vec<(String, ElementwiseExpression)>,
}

/// An expression of an assignment.
#[derive(Debug, PartialEq)]
pub enum ElementwiseExpression {
    /// Name of an input, or of an assignment on an earlier line.
    Name(String),
    /// A number, as an f32 literal.
    Number(f32),
    /// A binary operation: operator, left and right operand.
    Both(char, Box<ElementwiseExpression>, Box<ElementwiseExpression>),
}

/// The reason why a program is malformed.
#[derive(Debug, Error)]
#[error("line {line}: {message}")]
pub struct LanguageError {
    line: usize,
    message: String,
}

/// Parses the text of a program.
pub fn read(text: &str) -> Result<ElementwiseProgram, LanguageError> {
    let mut program = ElementwiseProgram { tile: 0, lines: Vec::new() };
    for (line_number, line) in text.lines().enumerate() {
        let wrong = |message: String| LanguageError { line: line_number + 1, message };
        let line = line.split('#').next().unwrap_or_default().trim();
        match (line.strip_prefix("tile "), line.split_once('=')) {
            _ if line.is_empty() => {}
            (Some(size), _) => {
                program.tile = size.trim().parse().map_err(|error| wrong(format!("a tile's size: {error}")))?
            }
            (_, Some(_)) if program.tile == 0 => return Err(wrong("write `tile SIZE` first".to_owned())),
            (_, Some((name, expression))) => {
                let expression = ExpressionParser { rest: expression.trim() }.parse_to_end().map_err(wrong)?;
                program.lines.push((name.trim().to_owned(), expression));
            }
            _ => return Err(wrong(format!("expected `name = expression`, found `{line}`"))),
        }
    }
    Ok(program)
}

struct ExpressionParser<'a> {
    rest: &'a str,
}

impl<'a> ExpressionParser<'a> {
    fn parse_to_end(mut self) -> Result<ElementwiseExpression, String> {
        let expression = self.sum()?;
        if self.rest.is_empty() { Ok(expression) } else { Err(format!("expected the end, found `{}`", self.rest)) }
    }

    fn sum(&mut self) -> Result<ElementwiseExpression, String> {
        self.chain(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<ElementwiseExpression, String> {
        self.chain(&['*'], Self::factor)
    }

    fn chain(
        &mut self,
        operators: &[char],
        operand: fn(&mut Self) -> Result<ElementwiseExpression, String>,
    ) -> Result<ElementwiseExpression, String> {
        let mut expression = operand(self)?;
        while let Some(operator) = self.rest.chars().next().filter(|next| operators.contains(next)) {
            self.advance(1);
            expression = ElementwiseExpression::Both(operator, Box::new(expression), Box::new(operand(self)?));
        }
        Ok(expression)
    }

    fn factor(&mut self) -> Result<ElementwiseExpression, String> {
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
                word.parse().map(ElementwiseExpression::Number).map_err(|error| format!("`{word}`: {error}"))
            }
            Some(_) => Ok(ElementwiseExpression::Name(word.to_owned())),
            None => Err("expected a name, a number or `(`".to_owned()),
        }
    }

    /// Consumes `bytes` bytes of the text and the blanks after them; returns the consumed bytes.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        word
    }
}
