//! What stands for a foreign word, as it is written in a table.
//!
//! | term | is |
//! |---|---|
//! | `$name`, `$0` | the operands of a group of the foreign operation, or those from a place on: one |
//! | `1.5`, `-3` | a number of the type of what stands beside it |
//! | `math.tanh($0)` | an operation; each term gives the operands of a group |
//! | `tt.splat[like x]($p)` | the same, its result a tensor of the element that `$p` has with the shape and layout of the group `x` |
//! | `arith.extf[f32]($0)` | the same, its result of that element |
//! | `tt.fp_to_fp[of y]($0)` | the same, its result of the type that the group `y` has |
//! | `ttg.local_load[plain x](...)` | the same, its result a tensor as the group `x` in memory is, in any layout |
//! | `... {axis = 1, order = $order}` | with attributes, the second the foreign operation's |
//! | `... {padding = $fill[zero, nan]}` | the word of the number that the foreign attribute is |
//! | `name(...)` | a list that `super::lists` knows |
//! | `remembered($0)` | what was remembered for an operand, alone |
//!
//! Several terms have `;` between them. The outermost one of the last gives the results of the foreign operation, has their
//! types, and takes over the attributes that it knows.

use tilewright_layout::text::{Cursor, Parsed};

/// A term.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    /// The operands of a group.
    Operands(String),
    /// A number.
    Number(String),
    /// An operation, or a list.
    Made(Made),
}

/// Something that is made of terms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Made {
    /// The operation; without a dialect a list.
    pub name: String,
    /// The type of the result.
    pub ty: Shape,
    /// What it is made of.
    pub parts: Vec<Term>,
    /// Names and values.
    pub attributes: Vec<(String, Said)>,
}

/// What an attribute is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A word or number.
    Word(String),
    /// The foreign operation's attribute; where there are words, the one of its number.
    Foreign(String, Vec<String>),
}

impl Term {
    /// Whether this is what was remembered before: `remembered(...)`.
    pub fn is_recall(&self) -> bool {
        matches!(self, Self::Made(made) if made.name == "remembered")
    }
}

/// What is said of the type of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// It follows from others.
    Follows,
    /// The shape and layout of a group.
    Like(String),
    /// The shape and element of a group, in any layout.
    Plain(String),
    /// An element.
    Element(String),
    /// The type of a group.
    Of(String),
}

/// The terms of a text.
///
/// # Errors
/// [`TextError`](tilewright_layout::text::TextError) at a place of the text.
pub(super) fn terms(text: &str) -> Parsed<Vec<Term>> {
    let mut reader = Reader { cursor: Cursor::new(text) };
    let mut terms = Vec::new();
    while !reader.cursor.is_at_end() {
        terms.push(reader.term()?);
        if !reader.cursor.takes(";") {
            reader.cursor.end("`;` or the end")?;
        }
    }
    Ok(terms)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl Reader<'_> {
    fn word(&mut self) -> Parsed<String> {
        self.cursor.skip_blanks();
        let word = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || "_.-+".contains(c));
        if word.is_empty() { Err(self.cursor.expected("a name or a number")) } else { Ok(word.to_owned()) }
    }

    /// Things between commas, up to a closing mark.
    fn list<T>(&mut self, closing: &str, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.cursor.takes(closing) {
            items.push(read(self)?);
            if !self.cursor.sees(closing) {
                self.cursor.expect(",")?;
            }
        }
        Ok(items)
    }

    fn term(&mut self) -> Parsed<Term> {
        if self.cursor.takes("$") {
            return self.word().map(Term::Operands);
        }
        let name = self.word()?;
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(Term::Number(name));
        }
        let ty = self.shape()?;
        self.cursor.expect("(")?;
        let parts = self.list(")", Self::term)?;
        let attributes = if self.cursor.takes("{") { self.list("}", Self::attribute)? } else { Vec::new() };
        Ok(Term::Made(Made { name, ty, parts, attributes }))
    }

    fn shape(&mut self) -> Parsed<Shape> {
        if !self.cursor.takes("[") {
            return Ok(Shape::Follows);
        }
        let word = self.word()?;
        let shape = match word.as_str() {
            "like" => Shape::Like(self.word()?),
            "plain" => Shape::Plain(self.word()?),
            "of" => Shape::Of(self.word()?),
            _ => Shape::Element(word),
        };
        self.cursor.expect("]")?;
        Ok(shape)
    }

    fn attribute(&mut self) -> Parsed<(String, Said)> {
        let name = self.word()?;
        self.cursor.expect("=")?;
        if !self.cursor.takes("$") {
            return Ok((name, Said::Word(self.word()?)));
        }
        let foreign = self.word()?;
        let words = if self.cursor.takes("[") { self.list("]", Self::word)? } else { Vec::new() };
        Ok((name, Said::Foreign(foreign, words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::name::{math, tt};

    #[test]
    fn terms_are_read_as_they_are_written() {
        let read = terms("tt.clampf($0, -1.0, 1e3) {propagateNan = none}; tt.splat[like x]($p)").expect("two terms");
        let operand = |name: &str| Term::Operands(name.to_owned());
        let number = |text: &str| Term::Number(text.to_owned());
        let made = |name: &str, ty, parts, attributes: &[(&str, &str)]| {
            let attributes =
                attributes.iter().map(|(name, value)| ((*name).to_owned(), Said::Word((*value).to_owned())));
            let attributes = attributes.collect();
            Term::Made(Made { name: name.to_owned(), ty, parts, attributes })
        };
        let clamp = vec![operand("0"), number("-1.0"), number("1e3")];
        let expected = [
            made(tt::CLAMPF, Shape::Follows, clamp, &[("propagateNan", "none")]),
            made(tt::SPLAT, Shape::Like("x".to_owned()), vec![operand("p")], &[]),
        ];
        assert_eq!(read, expected);
        assert_eq!(terms(" "), Ok(vec![]));
    }

    #[test]
    fn what_is_no_term_is_refused() {
        for (text, message) in [
            (math::TANH, "1:10: expected `(`, found the end of the text"),
            ("math.tanh($0", "1:13: expected `,`, found the end of the text"),
            ("f($0) f($1)", "1:7: expected `;` or the end, found `f`"),
            ("f(,)", "1:3: expected a name or a number, found `,`"),
            ("f[like]()", "1:7: expected a name or a number, found `]`"),
            ("f() {a 1}", "1:8: expected `=`, found `1`"),
        ] {
            assert_eq!(terms(text).map_err(|error| error.to_string()), Err(message.to_owned()), "{text}");
        }
    }
}
