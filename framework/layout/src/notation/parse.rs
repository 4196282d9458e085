//! Reads families from attribute text.

use std::collections::BTreeMap;

use super::NotationError;
use super::case::snake_case;
use super::json::spec_from_text;
use super::quoted::quoted;
use crate::{Attribute, FamilySpec};

/// Layouts and lists may be nested this deep in text, names given before included.
const MAX_DEPTH: usize = 64;

/// Values that one text may name, each use of a name given before counted with all that it stands for.
const MAX_VALUES: usize = 1 << 16;

/// A family from text: `#ttg.blocked<{sizePerThread = [1, 4], ...}>`, the JSON form, or the
/// attribute without its dialect. Names may be defined before, as MLIR does:
/// `#rows = #ttg.blocked<{...}>`, and then stand for what they name. `//` begins a comment.
///
/// ```
/// use tilewright_layout::parse_spec;
/// let spec = parse_spec("#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>")?;
/// assert_eq!(spec.name, "slice");
/// let same = parse_spec("#rows = #ttg.blocked<{order = [1, 0]}>\n#ttg.slice<{dim = 1, parent = #rows}>")?;
/// assert_eq!(same, spec);
/// let error = parse_spec("#ttg.blocked<{order = [1, 0}>").unwrap_err();
/// assert_eq!((error.at, error.line, error.column), (27, 1, 28));
/// # Ok::<(), tilewright_layout::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] with the place in the text.
pub fn parse_spec(text: &str) -> Result<FamilySpec, NotationError> {
    if text.trim_start().starts_with('{') {
        return spec_from_text(text);
    }
    let mut parser = Parser::new(text);
    while parser.definition()? {}
    let spec = parser.spec()?.value;
    parser.end("the end of the text after the layout")?;
    Ok(spec)
}

/// The layouts that a text defines, `#name = #dialect.family<...>` one after the other, by name in
/// the order of the text: the head of a file in Triton's IR.
///
/// ```
/// use tilewright_layout::parse_definitions;
/// let text = "#blocked = #ttg.blocked<{order = [1, 0]}>\n#rows = #ttg.slice<{dim = 1, parent = #blocked}>";
/// let layouts = parse_definitions(text)?;
/// assert_eq!(layouts[1].0, "rows");
/// assert_eq!(layouts[1].1.parent.as_deref(), Some(&layouts[0].1));
/// # Ok::<(), tilewright_layout::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] with the place in the text.
pub fn parse_definitions(text: &str) -> Result<Vec<(String, FamilySpec)>, NotationError> {
    let mut parser = Parser::new(text);
    while parser.definition()? {}
    parser.end("`#name = ` and a layout")?;
    Ok(parser.defined.into_iter().map(|(name, read)| (name, read.value)).collect())
}

/// Layouts within a text that is more than that, and the names given to them so far.
#[derive(Default)]
pub struct LayoutNames {
    defined: Vec<(String, Read<FamilySpec>)>,
    names: BTreeMap<String, usize>,
}

impl LayoutNames {
    /// The layout, or what else is written as one, that begins at a byte of the text, and where it ends.
    ///
    /// # Errors
    /// [`NotationError`] with the place in the text.
    pub fn read(&mut self, text: &str, at: usize) -> Result<(FamilySpec, usize), NotationError> {
        self.with_parser(text, at, |parser| Ok((parser.spec()?.value, parser.at)))
    }

    /// Reads `#name = layout` at a byte of the text, and gives its end.
    ///
    /// # Errors
    /// [`NotationError`] with the place in the text.
    pub fn define(&mut self, text: &str, at: usize) -> Result<usize, NotationError> {
        self.with_parser(text, at, |parser| match parser.definition()? {
            true => Ok(parser.at),
            false => Err(parser.expected("`#name = ` and a layout")),
        })
    }

    fn with_parser<T>(
        &mut self,
        text: &str,
        at: usize,
        read: impl FnOnce(&mut Parser<'_>) -> Result<T, NotationError>,
    ) -> Result<T, NotationError> {
        let (defined, names) = (std::mem::take(&mut self.defined), std::mem::take(&mut self.names));
        let mut parser = Parser { text, at, depth: 0, defined, names };
        let result = read(&mut parser);
        (self.defined, self.names) = (parser.defined, parser.names);
        result
    }
}

/// What was read, and how much it is when all names in it are replaced by what they name.
#[derive(Clone)]
struct Read<T> {
    value: T,
    depth: usize,
    values: usize,
}

impl<T> Read<T> {
    fn leaf(value: T) -> Self {
        Self { value, depth: 0, values: 1 }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read { value: change(self.value), depth: self.depth, values: self.values }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Layouts and lists that are open.
    depth: usize,
    /// Names given, in order.
    defined: Vec<(String, Read<FamilySpec>)>,
    names: BTreeMap<String, usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, defined: Vec::new(), names: BTreeMap::new() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn wrong_at(&self, at: usize, message: impl Into<String>) -> NotationError {
        NotationError::new(self.text, at, message)
    }

    fn expected(&self, what: &str) -> NotationError {
        let found = self.rest().chars().next().map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"));
        self.wrong_at(self.at, format!("expected {what}, found {found}"))
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
        }
        there
    }

    fn expect(&mut self, token: &str) -> Result<(), NotationError> {
        if self.takes(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn end(&mut self, what: &str) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Letters, digits and `_`; a text in quotes is taken as it is.
    fn word(&mut self, what: &str) -> Result<String, NotationError> {
        self.skip_blanks();
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        if end == 0 || self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(what));
        }
        let word = self.rest()[..end].to_owned();
        self.at += end;
        Ok(word)
    }

    /// Reads what is nested one deeper, and counts it.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self, &mut Size) -> Result<T, NotationError>,
    ) -> Result<Read<T>, NotationError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong_at(self.at, format!("nested deeper than {MAX_DEPTH}")));
        }
        let mut size = Size { depth: 0, values: 1 };
        let value = parse(self, &mut size)?;
        self.depth -= 1;
        Ok(Read { value, depth: size.depth + 1, values: size.values })
    }

    /// Adds what was read at `at` to what it is part of.
    fn counted<T>(&self, at: usize, read: Read<T>, size: &mut Size) -> Result<T, NotationError> {
        size.depth = size.depth.max(read.depth);
        size.values = size.values.saturating_add(read.values);
        if self.depth + read.depth > MAX_DEPTH {
            return Err(self.wrong_at(at, format!("nested deeper than {MAX_DEPTH}")));
        }
        if size.values > MAX_VALUES {
            return Err(self.wrong_at(at, format!("more than {MAX_VALUES} values")));
        }
        Ok(read.value)
    }

    /// `#name = layout`, where one stands here.
    fn definition(&mut self) -> Result<bool, NotationError> {
        self.skip_blanks();
        let start = self.at;
        let name = self.takes("#").then(|| self.word("a name").ok()).flatten();
        let Some(name) = name.filter(|_| self.takes("=")) else {
            self.at = start;
            return Ok(false);
        };
        if self.names.contains_key(&name) {
            return Err(self.wrong_at(start, format!("`#{name}` is defined twice")));
        }
        let spec = self.spec()?;
        self.names.insert(name.clone(), self.defined.len());
        self.defined.push((name, spec));
        Ok(true)
    }

    fn spec(&mut self) -> Result<Read<FamilySpec>, NotationError> {
        self.skip_blanks();
        let start = self.at;
        let hash = self.takes("#");
        let mut name = self.word("a layout")?;
        let dialect = hash && self.takes(".");
        if dialect {
            name = self.word("a name")?;
        }
        if !self.takes("<") {
            return match self.names.get(&name) {
                _ if dialect => Ok(Read::leaf(FamilySpec::new(&name))),
                Some(&defined) if hash => Ok(self.defined[defined].1.clone()),
                _ if hash => Err(self.wrong_at(start, format!("`#{name}` is not defined before, nor does `<` follow"))),
                _ => Err(self.expected("`<`")),
            };
        }
        let spec = self.nested(|parser, size| {
            let mut spec = FamilySpec::new(&name);
            parser.body(&mut spec, size)?;
            Ok(spec)
        })?;
        self.expect(">")?;
        Ok(spec)
    }

    /// An optional list of values without a name, then named ones, in braces or not.
    fn body(&mut self, spec: &mut FamilySpec, size: &mut Size) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.rest().starts_with('[') {
            let start = self.at;
            let list = self.list(UNNAMED)?;
            let list = self.counted(start, list, size)?;
            spec.attributes.insert(UNNAMED.to_owned(), list);
            self.takes(",");
        }
        if self.takes("{") {
            self.entries(spec, "}", size)?;
            self.expect("}")?;
            if !self.takes(",") {
                return Ok(());
            }
        }
        self.entries(spec, ">", size)
    }

    /// Named values up to the `closing` token, which is left.
    fn entries(&mut self, spec: &mut FamilySpec, closing: &str, size: &mut Size) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.rest().starts_with(closing) {
            return Ok(());
        }
        self.entry(spec, size)?;
        while self.takes(",") {
            self.entry(spec, size)?;
        }
        Ok(())
    }

    fn entry(&mut self, spec: &mut FamilySpec, size: &mut Size) -> Result<(), NotationError> {
        self.skip_blanks();
        let start = self.at;
        let literal = self.rest().starts_with('"');
        let word = self.word("a name")?;
        let name = if literal { word } else { snake_case(&word) };
        self.expect("=")?;
        let value = self.value(&name)?;
        let value = self.counted(start, value, size)?;
        let taken = match value {
            Attribute::Spec(parent) if name == "parent" => spec.parent.replace(parent).is_some(),
            _ if name == "parent" => return Err(self.wrong_at(start, "`parent` must be a layout")),
            other => spec.attributes.insert(name.clone(), other).is_some(),
        };
        if taken {
            return Err(self.wrong_at(start, format!("`{name}` is given twice")));
        }
        Ok(())
    }

    /// The value of the parameter `name`; named values in braces are a spec of that name.
    fn value(&mut self, name: &str) -> Result<Read<Attribute>, NotationError> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some('[') => self.list(name),
            Some('#') => Ok(self.spec()?.map(|spec| Attribute::Spec(Box::new(spec)))),
            Some('{') => self.group(name),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some('"') => Ok(Read::leaf(Attribute::Text(self.quoted()?))),
            _ => {
                let word = self.word("a value")?;
                Ok(Read::leaf(match word.as_str() {
                    "true" => Attribute::Bool(true),
                    "false" => Attribute::Bool(false),
                    _ => Attribute::Text(word),
                }))
            }
        }
    }

    fn group(&mut self, name: &str) -> Result<Read<Attribute>, NotationError> {
        self.expect("{")?;
        let group = self.nested(|parser, size| {
            let mut spec = FamilySpec::new(name);
            parser.entries(&mut spec, "}", size)?;
            Ok(Attribute::Spec(Box::new(spec)))
        })?;
        self.expect("}")?;
        Ok(group)
    }

    /// Values in brackets; `64:+8` is the pair of 64 and 8.
    fn list(&mut self, name: &str) -> Result<Read<Attribute>, NotationError> {
        self.expect("[")?;
        if self.takes("]") {
            return Ok(Read::leaf(Attribute::List(Vec::new())));
        }
        let list = self.nested(|parser, size| {
            let mut items = Vec::new();
            loop {
                let start = parser.at;
                let item = parser.value(name)?;
                let mut item = parser.counted(start, item, size)?;
                if parser.takes(":+") {
                    item = Attribute::List(vec![item, parser.number()?.value]);
                }
                items.push(item);
                if !parser.takes(",") {
                    return Ok(Attribute::List(items));
                }
            }
        })?;
        self.expect("]")?;
        Ok(list)
    }

    fn number(&mut self) -> Result<Read<Attribute>, NotationError> {
        self.skip_blanks();
        let negative = usize::from(self.rest().starts_with('-'));
        let digits = self.rest()[negative..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(self.rest().len(), |digits| digits + negative);
        if end == negative {
            self.at += negative;
            return Err(self.expected("a whole number"));
        }
        let number = self.rest()[..end].parse();
        let number = number.map_err(|_| self.wrong_at(self.at, "expected a whole number of 64 bits"))?;
        self.at += end;
        Ok(Read::leaf(Attribute::Int(number)))
    }

    /// Text in quotes.
    fn quoted(&mut self) -> Result<String, NotationError> {
        let (text, length) = quoted(self.rest()).map_err(|(at, message)| self.wrong_at(self.at + at, message))?;
        self.at += length;
        Ok(text)
    }
}

/// The name under which a list without a word is kept.
pub(super) const UNNAMED: &str = "0";

/// How much has been read of something.
struct Size {
    depth: usize,
    values: usize,
}
