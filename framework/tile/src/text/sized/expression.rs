//! Integer expressions over tile sizes: names, numbers, `+ - * / %` and parentheses.

use thiserror::Error;

use tilewright_layout::text::{Cursor, Parsed};

/// An error in the evaluation of a size expression; it contains the expression's text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SizeExpressionError {
    /// The value of the expression is negative.
    #[error("`{0}` is negative with these sizes")]
    Negative(String),
    /// Division by zero.
    #[error("`{0}` divides by zero with these sizes")]
    Zero(String),
    /// The value of the expression overflows 64 bits.
    #[error("`{0}` is larger than 64 bits with these sizes")]
    Large(String),
}

/// A parsed integer expression over tile sizes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    text: String,
    /// The operands and operators of the expression in postfix order.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Number(u64),
    /// The value of the tile size with this index.
    Size(usize),
    Operation(char),
}

/// Maximum nesting of parentheses; deeper nesting is a syntax error.
const DEEPEST: usize = 32;

impl Expression {
    /// Parses an expression; `names` are the names of the sizes.
    pub(super) fn read(cursor: &mut Cursor<'_>, names: &[&str]) -> Parsed<Self> {
        cursor.skip_blanks();
        let start = cursor.at;
        let mut steps = Vec::new();
        sum(cursor, names, &mut steps, 0)?;
        Ok(Self { text: cursor.text()[start..cursor.at].to_owned(), steps })
    }

    /// Returns the value of the expression for the tile sizes `sizes`, in the order of their declarations.
    pub(super) fn of(&self, sizes: &[u64]) -> Result<u64, SizeExpressionError> {
        let mut numbers: Vec<u64> = Vec::new();
        let large = || SizeExpressionError::Large(self.text.clone());
        for step in &self.steps {
            let number = match *step {
                Step::Number(number) => number,
                Step::Size(which) => sizes.get(which).copied().unwrap_or(0),
                Step::Operation(sign) => {
                    let (right, left) = (numbers.pop().unwrap_or(0), numbers.pop().unwrap_or(0));
                    match sign {
                        '+' => left.checked_add(right).ok_or_else(large)?,
                        '-' => {
                            left.checked_sub(right).ok_or_else(|| SizeExpressionError::Negative(self.text.clone()))?
                        }
                        '*' => left.checked_mul(right).ok_or_else(large)?,
                        '/' => left.checked_div(right).ok_or_else(|| SizeExpressionError::Zero(self.text.clone()))?,
                        _ => left.checked_rem(right).ok_or_else(|| SizeExpressionError::Zero(self.text.clone()))?,
                    }
                }
            };
            numbers.push(number);
        }
        Ok(numbers.pop().unwrap_or(0))
    }
}

fn sum(cursor: &mut Cursor<'_>, names: &[&str], steps: &mut Vec<Step>, depth: usize) -> Parsed<()> {
    product(cursor, names, steps, depth)?;
    while let Some(sign @ ('+' | '-')) = cursor.peek() {
        cursor.at += 1;
        product(cursor, names, steps, depth)?;
        steps.push(Step::Operation(sign));
    }
    Ok(())
}

fn product(cursor: &mut Cursor<'_>, names: &[&str], steps: &mut Vec<Step>, depth: usize) -> Parsed<()> {
    number(cursor, names, steps, depth)?;
    while let Some(sign @ ('*' | '/' | '%')) = cursor.peek() {
        cursor.at += 1;
        number(cursor, names, steps, depth)?;
        steps.push(Step::Operation(sign));
    }
    Ok(())
}

fn number(cursor: &mut Cursor<'_>, names: &[&str], steps: &mut Vec<Step>, depth: usize) -> Parsed<()> {
    let expected = "a number or a size";
    match cursor.peek() {
        Some('(') if depth < DEEPEST => {
            cursor.at += 1;
            sum(cursor, names, steps, depth + 1)?;
            return cursor.expect(")");
        }
        Some(c) if c.is_ascii_digit() => steps.push(Step::Number(cursor.read_decimal(expected)?)),
        _ => {
            let start = cursor.at;
            let word = cursor.read_identifier(expected)?;
            let size = names.iter().position(|name| *name == word).ok_or_else(|| {
                cursor.error_at(start, format!("there is no size `{word}`, there are {}", names.join(", ")))
            })?;
            steps.push(Step::Size(size));
        }
    }
    Ok(())
}
