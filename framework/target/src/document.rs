//! A TOML document whose values know where they stand: typed access with located errors.
//!
//! Knows nothing of targets; imports only the error type.

use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::TargetFileError;
use super::nearest::nearest;

type Outcome<T> = Result<T, TargetFileError>;

/// A file's text, and what the file is called in messages.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl<'a> Document<'a> {
    /// The parsed text.
    pub fn parse(&self) -> Outcome<Spanned<DeTable<'a>>> {
        DeTable::parse(self.text).map_err(|error| self.error(error.span().unwrap_or(0..0), error.message()))
    }

    /// An error at a range of bytes of the text.
    pub fn error(&self, place: Range<usize>, message: impl Display) -> TargetFileError {
        let before = self.text.get(..place.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TargetFileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string(),
        }
    }
}

/// A table all of whose keys are known.
pub(super) struct Table<'d> {
    document: Document<'d>,
    /// The keys that lead here, joined by dots; empty for the document itself.
    name: String,
    place: Range<usize>,
    entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    /// The document's outermost table, in which only the given keys may occur.
    pub fn root(document: Document<'d>, parsed: &'d Spanned<DeTable<'d>>, keys: &[&str]) -> Outcome<Self> {
        let table = Table { document, name: String::new(), place: 0..0, entries: parsed.get_ref() };
        table.refuse_unknown(keys)?;
        Ok(table)
    }

    /// The value of a key that must be there.
    pub fn value(&self, key: &str) -> Outcome<Value<'d>> {
        self.optional(key)
            .ok_or_else(|| self.document.error(self.place.clone(), format!("missing key `{key}` {}", self.described())))
    }

    /// The value of a key that may be left out.
    pub fn optional(&self, key: &str) -> Option<Value<'d>> {
        let item = self.entries.get(key)?;
        Some(Value { document: self.document, name: self.path(key), item })
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn described(&self) -> String {
        if self.name.is_empty() { "at the top of the file".to_owned() } else { format!("in `{}`", self.name) }
    }

    fn refuse_unknown(&self, keys: &[&str]) -> Outcome<()> {
        let mut unknown: Vec<_> = self.entries.keys().filter(|key| !keys.contains(&key.get_ref().as_ref())).collect();
        unknown.sort_by_key(|key| key.span().start);
        let Some(key) = unknown.first() else { return Ok(()) };
        let hint = match nearest(key.get_ref(), keys.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", keys.join(", ")),
        };
        let message = format!("unknown key `{}` {}; {hint}", key.get_ref(), self.described());
        Err(self.document.error(key.span(), message))
    }
}

/// A value, with its name and place.
#[derive(Clone)]
pub(super) struct Value<'d> {
    document: Document<'d>,
    name: String,
    item: &'d Spanned<DeValue<'d>>,
}

impl<'d> Value<'d> {
    /// An error at this value.
    pub fn error(&self, message: impl Display) -> TargetFileError {
        self.document.error(self.item.span(), format!("`{}`: {message}", self.name))
    }

    fn expected<T>(&self, what: impl Display) -> Outcome<T> {
        Err(self.error(format!("expected {what}, found {}", found(self.item.get_ref()))))
    }

    /// Text that says something.
    pub fn text(&self) -> Outcome<String> {
        match self.item.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => self.expected("text that is not blank"),
            DeValue::String(text) => Ok(text.to_string()),
            _ => self.expected("a string"),
        }
    }

    /// One of a few words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Outcome<T> {
        let listed = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
        match self.item.get_ref() {
            DeValue::String(text) => match words.iter().find(|(word, _)| word == text) {
                Some((_, meaning)) => Ok(*meaning),
                None => self.expected(listed()),
            },
            _ => self.expected(listed()),
        }
    }

    /// A yes or no.
    pub fn boolean(&self) -> Outcome<bool> {
        match self.item.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => self.expected("true or false"),
        }
    }

    /// A finite number that is not negative, whole or not.
    pub fn amount(&self) -> Outcome<f64> {
        let number = match self.item.get_ref() {
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            DeValue::Integer(_) => self.integer().map(|number| number as f64),
            _ => return self.expected("a number"),
        };
        // The comparison is false for what is not a number.
        match number {
            Some(number) if number >= 0.0 && number.is_finite() => Ok(number),
            _ => self.expected("a finite number that is not negative"),
        }
    }

    /// A whole number that is not zero.
    pub fn count(&self) -> Outcome<u32> {
        match self.integer().map(u32::try_from) {
            Some(Ok(number)) if number > 0 => Ok(number),
            _ => self.expected(format!("a whole number from 1 to {}", u32::MAX)),
        }
    }

    /// A power of two up to `most`.
    pub fn power_of_two(&self, most: u32) -> Outcome<u32> {
        match self.integer().map(u32::try_from) {
            Some(Ok(number)) if number.is_power_of_two() && number <= most => Ok(number),
            _ => self.expected(format!("a power of two from 1 to {most}")),
        }
    }

    /// A whole number from 1 up to and without `end`.
    pub fn below(&self, end: u32) -> Outcome<u64> {
        match self.integer().map(u64::try_from) {
            Some(Ok(number)) if number > 0 && number < u64::from(end) => Ok(number),
            _ => self.expected(format!("a whole number greater than zero and less than {end}")),
        }
    }

    /// The values of an array.
    pub fn list(&self) -> Outcome<Vec<Value<'d>>> {
        let DeValue::Array(items) = self.item.get_ref() else { return self.expected("an array") };
        let numbered = items.iter().enumerate();
        Ok(numbered
            .map(|(index, item)| Value { document: self.document, name: format!("{}[{index}]", self.name), item })
            .collect())
    }

    /// The values of an array that has some.
    pub fn some(&self) -> Outcome<Vec<Value<'d>>> {
        let list = self.list()?;
        if list.is_empty() { self.expected("an array with at least one entry") } else { Ok(list) }
    }

    /// A table, in which only the given keys may occur.
    pub fn table(&self, keys: &[&str]) -> Outcome<Table<'d>> {
        let DeValue::Table(entries) = self.item.get_ref() else { return self.expected("a table") };
        let table = Table { document: self.document, name: self.name.clone(), place: self.item.span(), entries };
        table.refuse_unknown(keys)?;
        Ok(table)
    }

    fn integer(&self) -> Option<i128> {
        let DeValue::Integer(number) = self.item.get_ref() else { return None };
        i128::from_str_radix(number.as_str(), number.radix()).ok()
    }
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
