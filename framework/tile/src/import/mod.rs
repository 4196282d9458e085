//! Vendors' words as neutral ones.
//!
//! A program may name the functions of a vendor's library and the operations of a vendor's dialect. Tables, which are data,
//! say what they mean in neutral words, whatever target the program is compiled for: [`Imports`] are the tables, [`import`]
//! writes a program anew. What has no neutral meaning is refused with the reason that the table gives, or left as it is
//! where only another compiler can tell (assembly that no table has).
//!
//! `docs/tile-ir.md` has the format of tables. Imports `tile` alone.

mod lists;
pub(crate) mod plain;
mod rewrite;
mod table;
mod term;
mod write;

use std::collections::BTreeMap;

pub use rewrite::import;

use table::{File, Row};
use term::Term;

use super::op::DialectError;

/// What foreign words mean.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    functions: BTreeMap<String, Meaning>,
    operations: BTreeMap<String, Meaning>,
    assembly: BTreeMap<String, Meaning>,
}

/// What one foreign word means.
#[derive(Debug, Clone, PartialEq)]
struct Meaning {
    /// What stands for it; nothing where it means nothing here.
    terms: Vec<Term>,
    /// What stands for it instead where it has this operand or attribute.
    having: BTreeMap<String, Vec<Term>>,
    /// Only where this holds.
    when: Option<Term>,
    /// It only says what this operand stands for, to be asked for later.
    remember: Option<Term>,
    /// Operands and attributes that it may not have, with the reason.
    unless: BTreeMap<String, String>,
    /// Why it has no meaning here.
    refused: Option<String>,
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
