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
/// What is wrong, in words.
pub(super) fn terms(text: &str) -> Result<Vec<Term>, String> {
    let mut reader = Reader { rest: text };
    let mut terms = Vec::new();
    reader.space();
    while !reader.rest.is_empty() {
        terms.push(reader.term()?);
        if !reader.takes(";") && !reader.rest.is_empty() {
            return Err(format!("expected `;` or the end before `{}`", reader.rest));
        }
    }
    Ok(terms)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        self.space();
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) { Ok(()) } else { Err(format!("expected `{token}` before `{}`", self.rest)) }
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_.-+".contains(c);
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("expected a name or a number before `{}`", self.rest));
        }
        self.rest = rest;
        self.space();
        Ok(word)
    }

    fn term(&mut self) -> Result<Term, String> {
        if self.takes("$") {
            return self.word().map(|name| Term::Operands(name.to_owned()));
        }
        let name = self.word()?.to_owned();
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(Term::Number(name));
        }
        let ty = self.shape()?;
        self.expect("(")?;
        let mut parts = Vec::new();
        while !self.takes(")") {
            parts.push(self.term()?);
            if !self.rest.starts_with(')') {
                self.expect(",")?;
            }
        }
        let attributes = self.attributes()?;
        Ok(Term::Made(Made { name, ty, parts, attributes }))
    }

    fn shape(&mut self) -> Result<Shape, String> {
        if !self.takes("[") {
            return Ok(Shape::Follows);
        }
        let word = self.word()?;
        let shape = match word {
            "like" => Shape::Like(self.word()?.to_owned()),
            "plain" => Shape::Plain(self.word()?.to_owned()),
            "of" => Shape::Of(self.word()?.to_owned()),
            element => Shape::Element(element.to_owned()),
        };
        self.expect("]")?;
        Ok(shape)
    }

    fn attributes(&mut self) -> Result<Vec<(String, Said)>, String> {
        let mut attributes = Vec::new();
        if !self.takes("{") {
            return Ok(attributes);
        }
        while !self.takes("}") {
            let name = self.word()?.to_owned();
            self.expect("=")?;
            attributes.push((name, self.said()?));
            if !self.rest.starts_with('}') {
                self.expect(",")?;
            }
        }
        Ok(attributes)
    }

    fn said(&mut self) -> Result<Said, String> {
        if !self.takes("$") {
            return Ok(Said::Word(self.word()?.to_owned()));
        }
        let name = self.word()?.to_owned();
        let mut words = Vec::new();
        if self.takes("[") {
            while !self.takes("]") {
                words.push(self.word()?.to_owned());
                if !self.rest.starts_with(']') {
                    self.expect(",")?;
                }
            }
        }
        Ok(Said::Foreign(name, words))
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
            (math::TANH, "expected `(` before ``"),
            ("math.tanh($0", "expected `,` before ``"),
            ("f($0) f($1)", "expected `;` or the end before `f($1)`"),
            ("f(,)", "expected a name or a number before `,)`"),
            ("f[like]()", "expected a name or a number before `]()`"),
            ("f() {a 1}", "expected `=` before `1}`"),
        ] {
            assert_eq!(terms(text), Err(message.to_owned()), "{text}");
        }
    }
}
