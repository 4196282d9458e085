//! The syntax of import rules: terms that replace a foreign operation.
//!
//! | term | value |
//! |---|---|
//! | `$name`, `$0` | the operands of a group of the foreign operation, or its operand at an index |
//! | `1.5`, `-3` | a number of the type of the operand next to it |
//! | `math.tanh($0)` | an operation; each term gives the operands of a group |
//! | `tt.splat[like x]($p)` | the same; its result is a tensor with the element type of `$p`, and the shape and layout
//! of group `x` |
//! | `arith.extf[f32]($0)` | the same; its result has this element type |
//! | `tt.fp_to_fp[of y]($0)` | the same; its result has the type of group `y` |
//! | `ttg.local_load[plain x](...)` | the same; its result is a tensor with the shape and element type of group `x` in
//! memory, in the default layout (`super::plain`) |
//! | `tt.dot[open x](...)` | the same, but layout assignment chooses the layout of the result |
//! | `... {axis = 1, order = $order}` | with attributes, the second copied from the foreign operation |
//! | `... {padding = $fill[zero, nan]}` | an attribute that is the keyword with the index in the foreign attribute |
//! | `... {offsets = $offset at $dim}` | an attribute with one number per axis of the first operand: the foreign
//! attribute `offset` at the axis that `dim` numbers, otherwise 0 |
//! | `... {lhs_k_pack = $a as $d at 0}` | a bool attribute: whether the first operands of both groups have the same size
//! along an axis |
//! | `... {count = multicast($count, $mask)}` | the number in the first foreign attribute for each block that a multicast
//! along the set bits of the second attribute reaches |
//! | `... {count = commits($a, $b)}` | the number of blocks whose MMAs arrive at one mbarrier, as `super::multicast`
//! computes it from the layouts of both groups |
//! | `name(...)` | a list function of `super::lists` |
//! | `remembered($0)` | the terms of the earlier operation that initialized `$0`; only as the whole rule |
//!
//! Terms are separated by `;`. The outermost operation of the last term gives the results of the foreign operation: it
//! has their types, and the attributes that it defines.

use tilewright_layout::text::{Cursor, Parsed};

/// A term of an import rule.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    /// The operands of a group of the foreign operation, by its name, or one operand by its index.
    Operands(String),
    /// A number literal. Its type is that of another operand of the operation, or `i32` if that is unknown.
    Number(String),
    /// A neutral operation, or a list function.
    Call(Call),
}

/// An operation or list function with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// Name of the operation; a name without a dialect is a list function's.
    pub name: String,
    /// The rule that gives the type of the result.
    pub ty: Shape,
    /// The arguments of the operation or function.
    pub arguments: Vec<Term>,
    /// Names and values of the attributes.
    pub attributes: Vec<(String, AttributeSource)>,
}

/// The value that a term gives an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AttributeSource {
    /// A keyword or number in the term.
    Keyword(String),
    /// The value of the foreign operation's attribute with this name, which is an index into the keywords if there are
    /// any.
    Foreign(String, Vec<String>),
    /// An array with one number per axis of the foreign operation's first operand: 0 except at one axis.
    AtAxis {
        /// The foreign attribute with the number at this axis.
        number: String,
        /// The foreign attribute that numbers the axis.
        axis: String,
    },
    /// A number, multiplied by the number of blocks that a multicast reaches.
    Multicast {
        /// The foreign attribute with the number.
        number: String,
        /// The foreign attribute whose set bits are the bits of the block index along which the multicast goes.
        mask: String,
    },
    /// The number of blocks whose MMAs arrive at the mbarrier of one block; the groups are those of the MMAs' operands.
    Commits(Vec<String>),
    /// Whether the first operands of two groups of the foreign operation have the same size along an axis.
    SameSize {
        /// Names of the groups.
        groups: [String; 2],
        /// Index of the axis.
        axis: usize,
    },
}

impl Term {
    /// Whether this is the term `remembered(...)`.
    pub fn is_recall_of_earlier_op(&self) -> bool {
        matches!(self, Self::Call(call) if call.name == "remembered")
    }
}

/// The rule that gives the result type of the operation in a term. Group names are those of the foreign operation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Inferred from the operands, as the operation's definition states.
    Follows,
    /// A tensor with the shape and layout of a group's type, and the element type of the term's first operand.
    Like(String),
    /// A tensor with the shape and element type of a group's type, in the default layout.
    Plain(String),
    /// As `Plain`, but without a layout, except in a partition of warps.
    Open(String),
    /// The operands' type with this element type.
    Element(String),
    /// The type of the values of a group.
    Of(String),
}

/// Parses terms.
///
/// # Errors
/// [`TextError`](tilewright_layout::text::TextError) at the first syntax error.
pub(super) fn terms(text: &str) -> Parsed<Vec<Term>> {
    let mut reader = Reader { cursor: Cursor::new(text) };
    let mut terms = Vec::new();
    while !reader.cursor.is_at_end() {
        terms.push(reader.term()?);
        if !reader.cursor.skip_if_next(";") {
            reader.cursor.expect_end("`;` or the end")?;
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
        if word.is_empty() { Err(self.cursor.expected_token_error("a name or a number")) } else { Ok(word.to_owned()) }
    }

    /// A comma-separated list up to and including a closing token.
    fn list<T>(&mut self, closing: &str, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.cursor.skip_if_next(closing) {
            items.push(read(self)?);
            if !self.cursor.is_next(closing) {
                self.cursor.expect(",")?;
            }
        }
        Ok(items)
    }

    fn term(&mut self) -> Parsed<Term> {
        if self.cursor.skip_if_next("$") {
            return self.word().map(Term::Operands);
        }
        let name = self.word()?;
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(Term::Number(name));
        }
        let ty = self.shape()?;
        self.cursor.expect("(")?;
        let arguments = self.list(")", Self::term)?;
        let attributes = if self.cursor.skip_if_next("{") { self.list("}", Self::attribute)? } else { Vec::new() };
        Ok(Term::Call(Call { name, ty, arguments, attributes }))
    }

    fn shape(&mut self) -> Parsed<Shape> {
        if !self.cursor.skip_if_next("[") {
            return Ok(Shape::Follows);
        }
        let word = self.word()?;
        let shape = match word.as_str() {
            "like" => Shape::Like(self.word()?),
            "plain" => Shape::Plain(self.word()?),
            "open" => Shape::Open(self.word()?),
            "of" => Shape::Of(self.word()?),
            _ => Shape::Element(word),
        };
        self.cursor.expect("]")?;
        Ok(shape)
    }

    fn attribute(&mut self) -> Parsed<(String, AttributeSource)> {
        let name = self.word()?;
        self.cursor.expect("=")?;
        if !self.cursor.skip_if_next("$") {
            let word = self.word()?;
            let is_call = ["multicast", "commits"].contains(&word.as_str()) && self.cursor.skip_if_next("(");
            let source = if is_call { self.computed(&word)? } else { AttributeSource::Keyword(word) };
            return Ok((name, source));
        }
        let foreign = self.word()?;
        if self.cursor.skip_if_next("at") {
            self.cursor.expect("$")?;
            return Ok((name, AttributeSource::AtAxis { number: foreign, axis: self.word()? }));
        }
        if self.cursor.skip_if_next("as") {
            self.cursor.expect("$")?;
            let groups = [foreign, self.word()?];
            self.cursor.expect("at")?;
            let axis = self.word()?.parse().map_err(|_| self.cursor.expected_token_error("the index of an axis"))?;
            return Ok((name, AttributeSource::SameSize { groups, axis }));
        }
        let words = if self.cursor.skip_if_next("[") { self.list("]", Self::word)? } else { Vec::new() };
        Ok((name, AttributeSource::Foreign(foreign, words)))
    }

    /// The rest of `multicast($number, $mask)` or `commits($a, ...)`.
    fn computed(&mut self, function: &str) -> Parsed<AttributeSource> {
        let mut names = self.list(")", |reader| {
            reader.cursor.expect("$")?;
            reader.word()
        })?;
        match (function, names.len()) {
            ("commits", 1..) => Ok(AttributeSource::Commits(names)),
            ("multicast", 2) => {
                let mask = names.split_off(1).remove(0);
                Ok(AttributeSource::Multicast { number: names.remove(0), mask })
            }
            _ => Err(self.cursor.expected_token_error("a number and a mask, or operands")),
        }
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
        let call = |name: &str, ty, arguments, attributes: &[(&str, &str)]| {
            let attributes = attributes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), AttributeSource::Keyword((*value).to_owned())));
            let attributes = attributes.collect();
            Term::Call(Call { name: name.to_owned(), ty, arguments, attributes })
        };
        let clamp = vec![operand("0"), number("-1.0"), number("1e3")];
        let expected = [
            call(tt::CLAMPF, Shape::Follows, clamp, &[("propagateNan", "none")]),
            call(tt::SPLAT, Shape::Like("x".to_owned()), vec![operand("p")], &[]),
        ];
        assert_eq!(read, expected);
        assert_eq!(terms(" "), Ok(vec![]));
    }

    #[test]
    fn an_attribute_may_be_a_number_at_one_axis() {
        let read = terms("ttg.memdesc_subslice($src) {offsets = $offset at $dim}").expect("a term");
        let [Term::Call(call)] = &read[..] else { panic!("{read:?}") };
        let expected = AttributeSource::AtAxis { number: "offset".to_owned(), axis: "dim".to_owned() };
        assert_eq!(call.attributes, [("offsets".to_owned(), expected)]);
    }

    #[test]
    fn an_attribute_may_count_arrivals() {
        let read = terms("tw.mbarrier_arrive($m) {count = multicast($count, $mask), more = commits($a, $b)}");
        let [Term::Call(call)] = &read.expect("a term")[..] else { panic!("no call") };
        let [number, mask, a, b] = ["count", "mask", "a", "b"].map(str::to_owned);
        assert_eq!(call.attributes[0].1, AttributeSource::Multicast { number, mask });
        assert_eq!(call.attributes[1].1, AttributeSource::Commits(vec![a, b]));
        assert!(terms("tw.mbarrier_arrive($m) {count = multicast($count)}").is_err());
    }

    #[test]
    fn an_attribute_may_compare_sizes() {
        let read = terms("tt.dot_scaled($a, $b) {lhs_k_pack = $a as $d at 0}").expect("a term");
        let [Term::Call(call)] = &read[..] else { panic!("{read:?}") };
        let expected = AttributeSource::SameSize { groups: ["a".to_owned(), "d".to_owned()], axis: 0 };
        assert_eq!(call.attributes, [("lhs_k_pack".to_owned(), expected)]);
        assert!(terms("tt.dot_scaled($a) {lhs_k_pack = $a as $d at x}").is_err());
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
            ("f() {a = $b at 1}", "1:16: expected `$`, found `1`"),
        ] {
            assert_eq!(terms(text).map_err(|error| error.to_string()), Err(message.to_owned()), "{text}");
        }
    }
}
