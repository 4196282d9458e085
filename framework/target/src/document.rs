//! A parsed TOML file as a serde source whose errors have the position of the faulty value.
//!
//! It knows no key of target files: it depends only on the error type and on [`DescriptionError`].

use std::fmt::{self, Display};
use std::ops::Range;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use tilewright_layout::find_similar_name;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::DescriptionError;
use super::{TargetDescription, TargetFileError};

type Outcome<T> = Result<T, TargetFileError>;

impl TargetDescription {
    /// Reads the description from a target file's text; `file` is for messages.
    ///
    /// # Errors
    /// [`TargetFileError`] with line and column of the first fault: text that is no TOML, unknown or missing keys,
    /// wrong types, or numbers that no machine can have.
    pub fn from_toml(file: &str, text: &str) -> Outcome<Self> {
        Document::parse(file, text)?.target()
    }

    /// As `from_toml`, for a file whose name without extension is `stem`; the target must have this name, else an
    /// error.
    pub(super) fn from_named_toml(file: &str, text: &str, stem: &str) -> Outcome<Self> {
        let document = Document::parse(file, text)?;
        let target = document.target()?;
        if target.name != stem {
            let rule = format!("the file {stem}.toml must describe `{stem}`; change this name or the file's");
            return Err(document.fault(&DescriptionError::at("name", rule)));
        }
        Ok(target)
    }
}

/// The parsed text of a file, and the file's name for messages.
struct Document<'d> {
    file: &'d str,
    text: &'d str,
    root: Spanned<DeValue<'d>>,
}

impl<'d> Document<'d> {
    fn parse(file: &'d str, text: &'d str) -> Outcome<Self> {
        let mut document = Self { file, text, root: Spanned::new(0..0, DeValue::Boolean(false)) };
        let table =
            DeTable::parse(text).map_err(|error| document.error(error.span().unwrap_or(0..0), error.message()))?;
        document.root = Spanned::new(0..0, DeValue::Table(table.into_inner()));
        Ok(document)
    }

    fn target(&self) -> Outcome<TargetDescription> {
        let target: TargetDescription = self.read()?;
        target.check().map_err(|fault| self.fault(&fault))?;
        Ok(target)
    }

    fn read<T: DeserializeOwned>(&self) -> Outcome<T> {
        T::deserialize(self.value()).map_err(|problem| match problem {
            Problem::Located(error) => error,
            other => self.error(0..0, other),
        })
    }

    fn value(&self) -> Value<'_> {
        Value { document: self, path: String::new(), item: &self.root }
    }

    /// Creates the error with this message at a range of bytes of the text, which gives its line and column.
    fn error(&self, range: Range<usize>, message: impl Display) -> TargetFileError {
        let before = self.text.get(..range.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TargetFileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string(),
        }
    }

    /// Returns the error for a value that failed a check: at the position of the value with the path `fault.path`, or
    /// as a missing key if the file does not set the value.
    fn fault(&self, fault: &DescriptionError) -> TargetFileError {
        let mut value = self.value();
        for step in fault.path.split(['.', '[']) {
            value = match value.step(step) {
                Some(inner) => inner,
                None => return value.missing(step),
            };
        }
        value.error(&fault.message)
    }
}

/// A value of the TOML document, with its path for messages.
#[derive(Clone)]
struct Value<'d> {
    document: &'d Document<'d>,
    /// Keys joined by dots, indices of arrays in brackets; empty for the document itself.
    path: String,
    item: &'d Spanned<DeValue<'d>>,
}

impl<'d> Value<'d> {
    fn error(&self, message: impl Display) -> TargetFileError {
        self.document.error(self.item.span(), format!("`{}`: {message}", self.path))
    }

    fn missing(&self, key: &str) -> TargetFileError {
        self.document.error(self.item.span(), format!("missing key `{key}` {}", self.describe_location()))
    }

    fn expected(&self, expected: impl Display) -> Problem {
        Problem::Located(self.error(format!("expected {expected}, found {}", found(self.item.get_ref()))))
    }

    /// Returns `problem` with the position of this value, unless it already has the position of a value within this
    /// one.
    fn locate(&self, problem: Problem) -> Problem {
        match problem {
            Problem::Located(_) => problem,
            Problem::Missing(key) => Problem::Located(self.missing(key)),
            Problem::Expected(expected) => self.expected(expected),
            Problem::Other(message) => Problem::Located(self.error(message)),
        }
    }

    fn describe_location(&self) -> String {
        if self.path.is_empty() { "at the top of the file".to_owned() } else { format!("in `{}`", self.path) }
    }

    /// Returns the value inside this one that one step of a path selects: a key of a table, or an index of an array
    /// with its closing bracket. `None` if there is no such value.
    fn step(&self, step: &str) -> Option<Self> {
        match self.item.get_ref() {
            DeValue::Table(table) => table.get(step).map(|item| self.entry(step, item)),
            DeValue::Array(items) => {
                let index = step.trim_end_matches(']').parse().ok()?;
                items.get(index).map(|item| self.element(index, item))
            }
            _ => None,
        }
    }

    fn entry(&self, key: &str, item: &'d Spanned<DeValue<'d>>) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { document: self.document, path, item }
    }

    fn element(&self, index: usize, item: &'d Spanned<DeValue<'d>>) -> Self {
        Self { document: self.document, path: format!("{}[{index}]", self.path), item }
    }

    /// Returns an error if the table has a key that is not in `known`.
    fn refuse_unknown(&self, table: &DeTable<'_>, known: &[&str]) -> Result<(), Problem> {
        let unknown = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let hint = match find_similar_name(key.get_ref(), known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        let message = format!("unknown key `{}` {}; {hint}", key.get_ref(), self.describe_location());
        Err(Problem::Located(self.document.error(key.span(), message)))
    }

    fn visit<V: Visitor<'d>>(&self, visitor: V) -> Result<V::Value, Problem> {
        match self.item.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => match i64::try_from(number) {
                    Ok(number) => visitor.visit_i64(number),
                    Err(_) => visitor.visit_i128(number),
                },
                Err(error) => Err(de::Error::custom(error)),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(error) => Err(de::Error::custom(error)),
            },
            DeValue::Datetime(_) => Err(de::Error::invalid_type(de::Unexpected::Other("a date"), &visitor)),
            DeValue::Array(items) => {
                let elements = items.iter().enumerate().map(|(index, item)| self.element(index, item));
                visitor.visit_seq(SeqDeserializer::new(elements))
            }
            DeValue::Table(table) => {
                let entries = table.iter().map(|(key, item)| {
                    let key: &str = key.get_ref();
                    (key, self.entry(key, item))
                });
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }
}

impl<'d> IntoDeserializer<'d, Problem> for Value<'d> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.visit(visitor).map_err(|problem| self.locate(problem))
    }

    /// Reads keys in the order of the struct's fields and rejects others.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let DeValue::Table(table) = self.item.get_ref() else { return Err(self.expected("a table")) };
        self.refuse_unknown(table, fields)?;
        let entries = fields.iter().filter_map(|&field| Some((field, self.entry(field, table.get(field)?))));
        visitor.visit_map(MapDeserializer::new(entries)).map_err(|problem| self.locate(problem))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let DeValue::String(text) = self.item.get_ref() else { return Err(self.expected(listed(variants))) };
        visitor.visit_enum(text.as_ref().into_deserializer()).map_err(|problem| self.locate(problem))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The reason why a value does not fit its type; [`Value::locate`] adds the position in the file.
#[derive(Debug)]
enum Problem {
    Expected(String),
    Missing(&'static str),
    Other(String),
    Located(TargetFileError),
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(expected) => write!(f, "expected {expected}"),
            Self::Missing(key) => write!(f, "missing key `{key}`"),
            Self::Other(message) => f.write_str(message),
            Self::Located(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Expected(describe_expected(&expected.to_string()))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Expected(describe_expected(&expected.to_string()))
    }

    fn unknown_variant(_: &str, variants: &'static [&'static str]) -> Self {
        Self::Expected(listed(variants))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

/// Translates serde's name of an expected type to the words of messages about TOML.
fn describe_expected(expected: &str) -> String {
    let words = match expected {
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "f64" => "a number",
        "u32" => "an unsigned 32-bit integer",
        "u64" => "an unsigned 64-bit integer",
        other => other,
    };
    words.to_owned()
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string {text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(items) if items.is_empty() => "an empty array".to_owned(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
