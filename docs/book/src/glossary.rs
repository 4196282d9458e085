//! The glossary as data: the terms, their sources, and the retired words that they replace.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use crate::vocabulary::Scope;

/// The glossary: the content of `docs/glossary.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glossary {
    /// The terms that the project uses.
    #[serde(rename = "term")]
    pub terms: Vec<Term>,
    /// The phrases that prose avoids, such as sentences without a subject.
    #[serde(rename = "phrase")]
    pub phrases: Vec<Phrase>,
}

/// A phrase that makes sentences hard to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phrase {
    /// A regular expression that matches a line of prose with the phrase.
    pub pattern: String,
    /// How to write instead of the phrase.
    pub write: String,
    /// The number of lines of prose that may match the pattern: legitimate uses, which `reason` explains.
    pub allowed: usize,
    /// The reason why `allowed` is above zero.
    #[serde(default)]
    pub reason: String,
}

/// A term of the field that the project uses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The name of the term.
    pub name: String,
    /// The meaning of the term in one sentence.
    pub meaning: String,
    /// The system that the term comes from, such as CUDA or Triton.
    pub source: String,
    /// The words that the term replaces.
    #[serde(default)]
    pub retired: Vec<Retired>,
}

/// A word that may not be used in place of a term.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// The retired word, in lower case.
    pub word: String,
    /// The kinds of text that are searched for the word.
    #[serde(rename = "in")]
    pub scopes: Vec<Scope>,
    /// The number of uses that the source tree still has in these texts together; it may only fall.
    #[serde(default)]
    pub allowed: usize,
    /// Names or words that contain the retired word and may stay, each with the reason.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

impl Glossary {
    /// Parses the text of `docs/glossary.toml`.
    ///
    /// # Errors
    /// The text is not TOML of this form.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns the text of the book's glossary page.
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
