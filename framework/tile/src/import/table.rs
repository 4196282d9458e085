//! Import tables, as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Meaning;
use super::term::{Term, terms};

/// A table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Functions whose names are made of a pattern.
    #[serde(default)]
    families: Vec<Family>,
    /// Functions of libraries by name.
    #[serde(default)]
    functions: BTreeMap<String, Row>,
    /// Operations by name.
    #[serde(default)]
    pub operations: BTreeMap<String, Row>,
    /// Assembly by its text.
    #[serde(default)]
    pub assembly: BTreeMap<String, Row>,
}

/// Functions of one pattern: `{}` is the name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    names: Vec<String>,
    functions: BTreeMap<String, Row>,
}

/// What a word means.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Row {
    /// Terms alone.
    Plain(String),
    /// And more.
    Full(Full),
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Full {
    #[serde(default)]
    is: String,
    #[serde(default)]
    having: BTreeMap<String, String>,
    when: Option<String>,
    remember: Option<String>,
    #[serde(default)]
    unless: BTreeMap<String, String>,
    refused: Option<String>,
}

impl File {
    /// All functions by their whole names.
    pub fn all_functions(&self) -> Vec<(String, Row)> {
        let of_family = |family: &Family| {
            let named = |pattern: &String| {
                let whole = |(name, row): (&String, &Row)| (pattern.replace("{}", name), row.clone());
                family.functions.iter().map(whole).collect::<Vec<_>>()
            };
            family.names.iter().flat_map(named).collect::<Vec<_>>()
        };
        let single = self.functions.iter().map(|(name, row)| (name.clone(), row.clone()));
        self.families.iter().flat_map(of_family).chain(single).collect()
    }
}

impl Row {
    pub fn meaning(self) -> Result<Meaning, String> {
        let row = match self {
            Self::Plain(is) => Full { is, ..Full::default() },
            Self::Full(row) => row,
        };
        let read = |text: &str| terms(text).map_err(|error| format!("`{text}`: {error}"));
        let one = |text: Option<String>| -> Result<Option<Term>, String> {
            let Some(text) = text else { return Ok(None) };
            match &read(&text)?[..] {
                [term] => Ok(Some(term.clone())),
                _ => Err(format!("`{text}` is not one term")),
            }
        };
        let having = row.having.into_iter().map(|(name, text)| Ok((name, read(&text)?)));
        Ok(Meaning {
            terms: read(&row.is)?,
            having: having.collect::<Result<_, String>>()?,
            when: one(row.when)?,
            remember: one(row.remember)?,
            unless: row.unless,
            refused: row.refused,
        })
    }
}
