//! Import tables: foreign operations and the neutral ones that they map to.

use super::Meaning;
use super::table::{File, Row};
use crate::op::DialectError;
use std::collections::BTreeMap;

/// What foreign words mean.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    pub(super) functions: BTreeMap<String, Meaning>,
    pub(super) operations: BTreeMap<String, Meaning>,
    pub(super) assembly: BTreeMap<String, Meaning>,
}

impl Imports {
    /// Adds a table, called `file` in messages. A word that was known is replaced.
    ///
    /// # Errors
    /// [`DialectError`], and nothing is added.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), DialectError> {
        let wrong = |message: String| DialectError { file: file.to_owned(), message };
        let rows: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let read = |(name, row): (String, Row)| {
            row.meaning()
                .map(|meaning| (name.clone(), meaning))
                .map_err(|message| wrong(format!("`{name}`: {message}")))
        };
        let functions: Vec<_> = rows.all_functions().into_iter().map(read).collect::<Result<_, _>>()?;
        let operations: Vec<_> = rows.operations.into_iter().map(read).collect::<Result<_, _>>()?;
        let assembly: Vec<_> = rows.assembly.into_iter().map(read).collect::<Result<_, _>>()?;
        self.functions.extend(functions);
        self.operations.extend(operations);
        self.assembly.extend(assembly);
        Ok(())
    }

    /// The library functions that are known, by name.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// The operations that have a row, by name, with the reason where it is refused.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = (&str, Option<&str>)> {
        self.operations.iter().map(|(name, meaning)| (name.as_str(), meaning.refused.as_deref()))
    }
}
