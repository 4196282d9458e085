//! Numbers that follow from sizes: names, numbers, `+ - * / %`, parentheses, on whole numbers.

use thiserror::Error;

use super::SizeParameter;
use crate::text::TextError;

/// What gives no number for some sizes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SizeError {
    /// It is less than nothing.
    #[error("`{0}` is less than nothing with these sizes")]
    Negative(String),
    /// It is divided by nothing.
    #[error("`{0}` divides by zero with these sizes")]
    Zero(String),
    /// It has more than 64 bits.
    #[error("`{0}` is larger than 64 bits with these sizes")]
    Large(String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    said: String,
    /// In the order in which it is computed.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Number(u64),
    /// The size of this number.
    Size(usize),
    Operation(char),
}

/// Deeper parentheses than these are no size.
const DEEPEST: usize = 32;

impl Expression {
    /// Reads what stands at a byte of a text.
    pub(super) fn read(text: &str, at: usize, said: &str, parameters: &[SizeParameter]) -> Result<Self, TextError> {
        let mut reader = Reader { text, from: at, said, at: 0, parameters, steps: Vec::new() };
        reader.sum(0)?;
        match reader.next() {
            None => Ok(Self { said: said.trim().to_owned(), steps: reader.steps }),
            Some(_) => Err(reader.expected("the end of the expression")),
        }
    }

    /// The number with these sizes.
    pub(super) fn of(&self, sizes: &[u64]) -> Result<u64, SizeError> {
        let mut numbers: Vec<u64> = Vec::new();
        let large = || SizeError::Large(self.said.clone());
        for step in &self.steps {
            let number = match *step {
                Step::Number(number) => number,
                Step::Size(which) => sizes.get(which).copied().unwrap_or(0),
                Step::Operation(sign) => {
                    let (right, left) = (numbers.pop().unwrap_or(0), numbers.pop().unwrap_or(0));
                    match sign {
                        '+' => left.checked_add(right).ok_or_else(large)?,
                        '-' => left.checked_sub(right).ok_or_else(|| SizeError::Negative(self.said.clone()))?,
                        '*' => left.checked_mul(right).ok_or_else(large)?,
                        '/' => left.checked_div(right).ok_or_else(|| SizeError::Zero(self.said.clone()))?,
                        _ => left.checked_rem(right).ok_or_else(|| SizeError::Zero(self.said.clone()))?,
                    }
                }
            };
            numbers.push(number);
        }
        Ok(numbers.pop().unwrap_or(0))
    }
}

struct Reader<'t> {
    text: &'t str,
    /// Where in the text it begins.
    from: usize,
    said: &'t str,
    at: usize,
    parameters: &'t [SizeParameter],
    steps: Vec<Step>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let rest = &self.said[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.said[self.at..].chars().next()
    }

    fn expected(&self, what: &str) -> TextError {
        TextError::new(self.text, self.from + self.at, format!("expected {what} in `{}`", self.said.trim()))
    }

    fn sum(&mut self, depth: usize) -> Result<(), TextError> {
        self.product(depth)?;
        while let Some(sign @ ('+' | '-')) = self.next() {
            self.at += 1;
            self.product(depth)?;
            self.steps.push(Step::Operation(sign));
        }
        Ok(())
    }

    fn product(&mut self, depth: usize) -> Result<(), TextError> {
        self.number(depth)?;
        while let Some(sign @ ('*' | '/' | '%')) = self.next() {
            self.at += 1;
            self.number(depth)?;
            self.steps.push(Step::Operation(sign));
        }
        Ok(())
    }

    fn number(&mut self, depth: usize) -> Result<(), TextError> {
        let first = self.next();
        if first == Some('(') && depth < DEEPEST {
            self.at += 1;
            self.sum(depth + 1)?;
            if self.next() != Some(')') {
                return Err(self.expected("`)`"));
            }
            self.at += 1;
            return Ok(());
        }
        let rest = &self.said[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        let step = match (word.parse::<u64>(), self.parameters.iter().position(|own| own.name == word)) {
            (Ok(number), _) => Step::Number(number),
            (_, Some(which)) => Step::Size(which),
            _ if first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') => {
                let known: Vec<&str> = self.parameters.iter().map(|own| &*own.name).collect();
                let message = format!("there is no size `{word}`, there are {}", known.join(", "));
                return Err(TextError::new(self.text, self.from + self.at, message));
            }
            _ => return Err(self.expected("a number or a size")),
        };
        self.at += length;
        self.steps.push(step);
        Ok(())
    }
}
