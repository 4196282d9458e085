//! Import tables as deserialized, with the terms of their rules still as text.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Replacement;
use super::term::{Term, terms};

/// An import table: replacements for foreign operations, functions and instructions of inline assembly.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportTableFile {
    /// Families of library functions whose names differ in one part.
    #[serde(default)]
    families: Vec<Family>,
    /// Library functions by name.
    #[serde(default)]
    functions: BTreeMap<String, Row>,
    /// Operations by name.
    #[serde(default)]
    pub operations: BTreeMap<String, Row>,
    /// Types of descriptors of images.
    #[serde(default)]
    pub images: Vec<String>,
    /// Replacements for instructions of inline assembly, by language and mnemonic. `$0` is the first source.
    #[serde(default)]
    pub assembly: BTreeMap<String, BTreeMap<String, Row>>,
}

/// Library functions with similar names: a full name is one of `names` with the function's own name in place of `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    names: Vec<String>,
    functions: BTreeMap<String, Row>,
}

/// The import rule of one foreign operation, function or instruction of inline assembly.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Row {
    /// The terms alone, as text.
    Plain(String),
    /// The terms with conditions and exceptions.
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

impl ImportTableFile {
    /// All library functions with their full names, including the functions of families.
    pub fn expand_function_families(&self) -> Vec<(String, Row)> {
        let of_family = |family: &Family| {
            let named = |pattern: &String| {
                let full_name = |(name, row): (&String, &Row)| (pattern.replace("{}", name), row.clone());
                family.functions.iter().map(full_name).collect::<Vec<_>>()
            };
            family.names.iter().flat_map(named).collect::<Vec<_>>()
        };
        let single = self.functions.iter().map(|(name, row)| (name.clone(), row.clone()));
        self.families.iter().flat_map(of_family).chain(single).collect()
    }
}

impl Row {
    pub fn replacement(self) -> Result<Replacement, String> {
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
        Ok(Replacement {
            terms: read(&row.is)?,
            having: having.collect::<Result<_, String>>()?,
            when: one(row.when)?,
            remember: one(row.remember)?,
            unless: row.unless,
            refused: row.refused,
        })
    }
}
