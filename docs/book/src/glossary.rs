//! The glossary as data: the terms, their sources, and the retired words that they replace.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use crate::vocabulary::Scope;

/// The content of `docs/glossary.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glossary {
    /// The terms.
    #[serde(rename = "term")]
    pub terms: Vec<Term>,
}

/// A term of the field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The term.
    pub name: String,
    /// Its meaning in one sentence.
    pub meaning: String,
    /// The system that the term comes from.
    pub source: String,
    /// The words that it replaces.
    #[serde(default)]
    pub retired: Vec<Retired>,
}

/// A word that may not be used in place of a term.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// The word, in lower case.
    pub word: String,
    /// The text that is checked.
    #[serde(rename = "in")]
    pub scope: Scope,
    /// The number of uses that the tree still has; it may only fall.
    pub allowed: usize,
    /// Names or words that contain the retired word for a good reason, each with that reason.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

impl Glossary {
    /// Reads the data.
    ///
    /// # Errors
    /// The text is no TOML of this form.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The page of the book.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = HEAD.to_owned();
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|term| term.name.to_lowercase());
        for Term { name, meaning, source, retired } in terms {
            let mut words: Vec<_> = retired.iter().map(|retired| format!("*{}*", retired.word)).collect();
            words.dedup();
            let _ = writeln!(page, "| **{name}** | {meaning} | {source} | {} |", words.join(", "));
        }
        page
    }
}

const HEAD: &str = "# Glossary

The terms of this project, each with the system that it comes from. A test writes this page from `docs/glossary.toml` and
checks that names, file names and prose do not use the retired words more often than that file allows.

| term | meaning | source | replaces |
|---|---|---|---|
";
