//! How layouts and families are written: JSON, and attribute text.
//!
//! A linear layout in JSON is `{"in_dims": [["lane", 32], ...], "out_dims": [["dim0", 16], ...],
//! "bases": {"lane": [[0, 1], ...], ...}}`; the same structure crosses the plugin boundary. A
//! family is `{"kind": "blocked", "order": [1, 0], ...}` in JSON, and in text
//! `#ttg.blocked<{order = [1, 0], ...}>`: the parser knows only `#dialect.name<...>`, never the
//! names. Words in text are turned from `camelCase` to `snake_case`.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::{Attribute, Bases, Dim, FamilySpec, LinearLayout};

#[derive(Serialize)]
struct Written<'a> {
    in_dims: Vec<(String, u64)>,
    out_dims: Vec<(String, u64)>,
    bases: WrittenBases<'a>,
}

struct WrittenBases<'a>(&'a LinearLayout);

impl Serialize for WrittenBases<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.ins().len()))?;
        for dim in self.0.ins().dims() {
            map.serialize_entry(&dim.to_string(), &self.0.bases_of(dim))?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
struct Read {
    in_dims: Vec<(String, u64)>,
    out_dims: Vec<(String, u64)>,
    bases: BTreeMap<String, Bases>,
}

impl Serialize for LinearLayout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sized = |(dim, bits): (Dim, u32)| (dim.to_string(), 1u64.checked_shl(bits).unwrap_or(0));
        Written {
            in_dims: self.ins().iter().map(sized).collect(),
            out_dims: self.outs().iter().map(sized).collect(),
            bases: WrittenBases(self),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for LinearLayout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut read = Read::deserialize(from)?;
        let mut bases = Vec::new();
        for (name, size) in &read.in_dims {
            let own = read.bases.remove(name).unwrap_or_default();
            if 1u64.checked_shl(own.len() as u32) != Some(*size) {
                let message = format!("{name} has size {size} and {} bases", own.len());
                return Err(D::Error::custom(message));
            }
            bases.push((Dim::named(name), own));
        }
        if let Some(name) = read.bases.keys().next() {
            return Err(D::Error::custom(format!("bases of {name}, which in_dims does not list")));
        }
        let outs: Vec<_> = read.out_dims.iter().map(|(name, size)| (Dim::named(name), *size)).collect();
        Self::from_bases(&bases, &outs).map_err(D::Error::custom)
    }
}

/// A text or JSON value that names no layout; the writer's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("at character {}: {message}", .at + 1)]
pub struct NotationError {
    /// Byte offset into the text; zero for JSON values.
    pub at: usize,
    /// What is wrong, what was expected.
    pub message: String,
}

/// A linear layout from its JSON form.
///
/// # Errors
/// [`NotationError`] that says what is wrong with it.
pub fn layout_from_json(value: &serde_json::Value) -> Result<LinearLayout, NotationError> {
    LinearLayout::deserialize(value).map_err(|error| NotationError { at: 0, message: error.to_string() })
}

/// The JSON form of a linear layout.
#[must_use]
pub fn layout_to_json(layout: &LinearLayout) -> serde_json::Value {
    serde_json::to_value(layout).unwrap_or(serde_json::Value::Null)
}

/// A family from its JSON form.
///
/// # Errors
/// [`NotationError`] that says what is wrong with it.
pub fn spec_from_json(value: &serde_json::Value) -> Result<FamilySpec, NotationError> {
    let known = |error: serde_json::Error| NotationError { at: 0, message: error.to_string() };
    FamilySpec::deserialize(value).map_err(known)
}

/// The JSON form of a family.
#[must_use]
pub fn spec_to_json(spec: &FamilySpec) -> serde_json::Value {
    serde_json::to_value(spec).unwrap_or(serde_json::Value::Null)
}

/// A family from text: `#ttg.blocked<{sizePerThread = [1, 4], ...}>`, the JSON form, or the
/// attribute without its dialect.
///
/// ```
/// use tilewright::layout::parse_spec;
/// let spec = parse_spec("#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>")?;
/// assert_eq!(spec.name, "slice");
/// let error = parse_spec("#ttg.blocked<{order = [1, 0}>").unwrap_err();
/// assert_eq!(error.at, 27);
/// # Ok::<(), tilewright::layout::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] with the place in the text.
pub fn parse_spec(text: &str) -> Result<FamilySpec, NotationError> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text)
            .map_err(|error| NotationError { at: place(text, &error), message: error.to_string() });
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let spec = parser.spec()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.wrong("unexpected text after the layout"));
    }
    Ok(spec)
}

fn place(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before + error.column().saturating_sub(1)).min(text.len())
}

/// Layouts may be nested this deep in text.
const MAX_DEPTH: usize = 32;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, message: &str) -> NotationError {
        NotationError { at: self.at, message: message.to_owned() }
    }

    fn found(&self) -> String {
        self.rest().chars().next().map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"))
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
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
        if self.takes(token) {
            return Ok(());
        }
        Err(self.wrong(&format!("expected `{token}`, found {}", self.found())))
    }

    fn word(&mut self) -> Result<String, NotationError> {
        self.skip_blanks();
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        if end == 0 || self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.wrong(&format!("expected a name, found {}", self.found())));
        }
        let word = self.rest()[..end].to_owned();
        self.at += end;
        Ok(word)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, NotationError>) -> Result<T, NotationError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong(&format!("nested deeper than {MAX_DEPTH}")));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn spec(&mut self) -> Result<FamilySpec, NotationError> {
        let dialect = self.takes("#");
        let mut name = self.word()?;
        if dialect && self.takes(".") {
            name = self.word()?;
        }
        let mut spec = FamilySpec::new(&name);
        self.expect("<")?;
        self.nested(|parser| parser.body(&mut spec))?;
        self.expect(">")?;
        Ok(spec)
    }

    /// An optional list of values without a name, then named ones, in braces or not.
    fn body(&mut self, spec: &mut FamilySpec) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.rest().starts_with('[') {
            let list = self.value("0")?;
            spec.attributes.insert("0".to_owned(), list);
            self.takes(",");
        }
        if self.takes("{") {
            self.entries(spec, "}")?;
            self.expect("}")?;
            if !self.takes(",") {
                return Ok(());
            }
        }
        self.entries(spec, ">")
    }

    /// Named values up to the `closing` token, which is left.
    fn entries(&mut self, spec: &mut FamilySpec, closing: &str) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.rest().starts_with(closing) {
            return Ok(());
        }
        self.entry(spec)?;
        while self.takes(",") {
            self.entry(spec)?;
        }
        Ok(())
    }

    fn entry(&mut self, spec: &mut FamilySpec) -> Result<(), NotationError> {
        self.skip_blanks();
        let start = self.at;
        let name = snake_case(&self.word()?);
        self.expect("=")?;
        let value = self.value(&name)?;
        let taken = match value {
            Attribute::Spec(parent) if name == "parent" => spec.parent.replace(parent).is_some(),
            other => spec.attributes.insert(name.clone(), other).is_some(),
        };
        if taken {
            return Err(NotationError { at: start, message: format!("`{name}` is given twice") });
        }
        Ok(())
    }

    /// The value of the parameter `name`; named values in braces are a spec of that name.
    fn value(&mut self, name: &str) -> Result<Attribute, NotationError> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some('[') => self.nested(|parser| parser.list(name)),
            Some('#') => Ok(Attribute::Spec(Box::new(self.spec()?))),
            Some('{') => self.nested(|parser| parser.group(name)),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some('"') => self.quoted(),
            _ => {
                let word = self.word()?;
                Ok(match word.as_str() {
                    "true" => Attribute::Bool(true),
                    "false" => Attribute::Bool(false),
                    _ => Attribute::Text(word),
                })
            }
        }
    }

    fn group(&mut self, name: &str) -> Result<Attribute, NotationError> {
        self.expect("{")?;
        let mut spec = FamilySpec::new(name);
        self.entries(&mut spec, "}")?;
        self.expect("}")?;
        Ok(Attribute::Spec(Box::new(spec)))
    }

    /// Values in brackets; `64:+8` is the pair of 64 and 8.
    fn list(&mut self, name: &str) -> Result<Attribute, NotationError> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.takes("]") {
            return Ok(Attribute::List(items));
        }
        loop {
            let mut item = self.value(name)?;
            if self.takes(":+") {
                item = Attribute::List(vec![item, self.number()?]);
            }
            items.push(item);
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(Attribute::List(items))
    }

    fn number(&mut self) -> Result<Attribute, NotationError> {
        self.skip_blanks();
        let negative = usize::from(self.rest().starts_with('-'));
        let digits = self.rest()[negative..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(self.rest().len(), |digits| digits + negative);
        let number = self.rest()[..end].parse();
        let number = number.map_err(|_| self.wrong(&format!("expected a whole number, found {}", self.found())))?;
        self.at += end;
        Ok(Attribute::Int(number))
    }

    fn quoted(&mut self) -> Result<Attribute, NotationError> {
        let inner = &self.rest()[1..];
        let end = inner.find('"').ok_or_else(|| self.wrong("this quote is never closed"))?;
        let text = inner[..end].to_owned();
        self.at += end + 2;
        Ok(Attribute::Text(text))
    }
}

/// `sizePerThread` to `size_per_thread`, `warpsPerCTA` to `warps_per_cta`.
fn snake_case(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let mut out = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(index + 1);
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase() || (b.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts_word {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
