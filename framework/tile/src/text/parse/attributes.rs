//! Parses attributes.

use super::Parser;
use crate::types::LayoutAttribute;
use crate::{Attribute, Attributes};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        self.nested(Self::any_attribute)
    }

    fn any_attribute(&mut self) -> Parsed<Attribute> {
        match self.cursor.peek() {
            Some('"') => Ok(Attribute::Text(self.cursor.read_quoted("a text")?.into())),
            Some('@') => self.symbol().map(Attribute::Symbol),
            Some('#') => self.marked_attribute(),
            Some('{') => self.dictionary().map(Attribute::Dictionary),
            Some('[') => {
                self.cursor.expect("[")?;
                self.list("]", Self::attribute).map(Attribute::List)
            }
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            _ => self.worded_attribute(),
        }
    }

    fn worded_attribute(&mut self) -> Parsed<Attribute> {
        if self.cursor.is_next("true") || self.cursor.is_next("false") {
            let literal = self.literal()?;
            return Ok(Attribute::Bool(literal.is_true()));
        }
        if self.cursor.skip_if_next("unit") {
            return Ok(Attribute::Unit);
        }
        if self.cursor.skip_if_next("array") {
            return self.array();
        }
        if self.cursor.skip_if_next("dense") {
            return self.dense().map(Attribute::Dense);
        }
        if self.cursor.is_next("loc") {
            let text = self.location()?.written.unwrap_or_default();
            return Ok(Attribute::Foreign(format!("loc{text}").into()));
        }
        match OTHER_ATTRIBUTES.iter().find(|(word, _)| self.cursor.is_next(word)) {
            Some((_, shape)) => self.other_attribute(shape),
            None => self.ty().map(Attribute::Type),
        }
    }

    /// Parses an attribute of MLIR that tile programs do not compute with, and keeps its text; `shape` is the form of
    /// its text from [`OTHER_ATTRIBUTES`].
    fn other_attribute(&mut self, shape: &str) -> Parsed<Attribute> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        self.cursor.expect_word("an attribute")?;
        for part in shape.chars() {
            match part {
                ':' => {
                    self.cursor.expect(":")?;
                    self.ty()?;
                }
                bracket => drop(self.cursor.read_balanced(bracket.encode_utf8(&mut [0; 4]))?),
            }
        }
        let text = self.expanded(&self.cursor.text()[start..self.cursor.at], start)?;
        Ok(Attribute::Foreign(text.into()))
    }

    /// Parses a symbol: `@name`, or `@module::@name`.
    pub(super) fn symbol(&mut self) -> Parsed<std::sync::Arc<str>> {
        self.cursor.expect("@")?;
        let mut name = self.symbol_name()?;
        while self.cursor.skip_if_next("::") {
            self.cursor.expect("@")?;
            name = format!("{name}::{}", self.symbol_name()?);
        }
        Ok(name.into())
    }

    fn symbol_name(&mut self) -> Parsed<String> {
        if self.cursor.rest().starts_with('"') {
            return self.cursor.read_quoted("a name");
        }
        Ok(self.cursor.read_name_after_sigil("a name")?.to_owned())
    }

    /// Parses an attribute that begins with `#`: an alias `#name`, or `#dialect.name<...>`.
    fn marked_attribute(&mut self) -> Parsed<Attribute> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.read_name_after_sigil("the name of an attribute")?;
        let is_name = !name.contains('.') && !self.cursor.rest().starts_with('<');
        if self.cursor.rest().starts_with('<') {
            self.cursor.read_balanced("<")?;
        }
        let end = self.cursor.at;
        let text = self.expanded(&self.cursor.text()[start..end], start)?;
        if is_name && !text.starts_with('#') {
            // An alias of an attribute that is no layout stands for its text, which is parsed at each use.
            let mut aside = Parser { depth: self.depth, ..Parser::new(&text, self.dialects) };
            let value = aside.attribute().map_err(|error| self.cursor.error_at(start, error.message))?;
            return Ok(value);
        }
        match self.layouts.read_layout(self.cursor.text(), start) {
            Ok((mut spec, read)) if read == end => {
                self.dialects.remove_layout_defaults(&mut spec);
                Ok(Attribute::Layout(LayoutAttribute::new(spec, text)))
            }
            _ => Ok(Attribute::Foreign(short_form(text).into())),
        }
    }

    /// Parses a dictionary: `{name = value, "other name", ...}`.
    pub(super) fn dictionary(&mut self) -> Parsed<Attributes> {
        self.cursor.expect("{")?;
        let entries = self.list("}", |parser| {
            parser.cursor.skip_blanks();
            let at = parser.cursor.at;
            let name = match parser.cursor.peek() {
                Some('"') => match parser.cursor.read_quoted("the name of an attribute")? {
                    empty if empty.is_empty() => return Err(parser.cursor.error_at(at, "an attribute needs a name")),
                    name => name,
                },
                _ => parser.cursor.expect_word("the name of an attribute")?.to_owned(),
            };
            let value = if parser.cursor.skip_if_next("=") { parser.attribute()? } else { Attribute::Unit };
            Ok((at, name, value))
        })?;
        let mut attributes = Attributes::default();
        for (at, name, value) in entries {
            if attributes.set(self.dialects.current_name(&name), value).is_some() {
                return Err(self.cursor.error_at(at, format!("`{name}` is given twice")));
            }
        }
        Ok(attributes)
    }
}

/// The attributes that tile programs do not compute with: the first word of each, and the form of the text after it
/// (brackets, or a type).
const OTHER_ATTRIBUTES: [(&str, &str); 6] = [
    ("affine_map", "<"),
    ("affine_set", "<"),
    ("dense_resource", "<:"),
    ("distinct", "[<"),
    ("sparse", "<:"),
    ("strided", "<"),
];

/// Returns the short form `#dialect.name<...>` of an attribute text in the verbose form `#dialect<name<...>>`; other
/// text is unchanged.
fn short_form(text: String) -> String {
    let verbose = text.split_once('<').filter(|(dialect, _)| !dialect.contains('.'));
    let Some((dialect, body)) = verbose.and_then(|(dialect, body)| Some((dialect, body.strip_suffix('>')?))) else {
        return text;
    };
    let name = body.split('<').next().unwrap_or_default();
    let one_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$.".contains(c));
    if one_word { format!("{dialect}.{body}") } else { text }
}
