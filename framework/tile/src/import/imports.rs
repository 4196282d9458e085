//! Import tables: data that maps foreign operations (vendor operations and library functions) to neutral ones.

use super::Replacement;
use super::table::{ImportTableFile, Row};
use crate::op::DialectError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The entries of import tables: the replacement of each foreign library function, operation and instruction of
/// inline assembly.
#[derive(Debug, Clone, Default)]
pub struct ForeignOpReplacements {
    // The tables are shared, since each compilation that keeps a language of assembly has a copy without it.
    pub(super) functions: Arc<BTreeMap<String, Replacement>>,
    pub(super) operations: Arc<BTreeMap<String, Replacement>>,
    /// Instructions of inline assembly by language and mnemonic.
    pub(super) assembly: BTreeMap<String, Arc<BTreeMap<String, Replacement>>>,
    /// Names of the types that describe images.
    pub(super) images: BTreeSet<String>,
}

impl ForeignOpReplacements {
    /// Adds the table `text`; error messages call it `file`. Its entries replace earlier ones of the same names.
    ///
    /// # Errors
    /// [`DialectError`] if the table does not parse; nothing is added in that case.
    pub fn add_table(&mut self, file: &str, text: &str) -> Result<(), DialectError> {
        let wrong = |message: String| DialectError { file: file.to_owned(), message };
        let rows: ImportTableFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let read = |(name, row): (String, Row)| {
            row.replacement()
                .map(|replacement| (name.clone(), replacement))
                .map_err(|message| wrong(format!("`{name}`: {message}")))
        };
        let images = rows.images.clone();
        let functions: Vec<_> = rows.expand_function_families().into_iter().map(read).collect::<Result<_, _>>()?;
        let operations: Vec<_> = rows.operations.into_iter().map(read).collect::<Result<_, _>>()?;
        let mut assembly = Vec::new();
        for (language, instructions) in rows.assembly {
            assembly.push((language, instructions.into_iter().map(read).collect::<Result<Vec<_>, _>>()?));
        }
        self.images.extend(images);
        Arc::make_mut(&mut self.functions).extend(functions);
        Arc::make_mut(&mut self.operations).extend(operations);
        for (language, instructions) in assembly {
            Arc::make_mut(self.assembly.entry(language).or_default()).extend(instructions);
        }
        Ok(())
    }

    /// Returns the tables without the instructions of the assembly language `language`, such as `ptx`.
    #[must_use]
    pub fn without_assembly_of(&self, language: &str) -> Self {
        let mut others = self.clone();
        others.assembly.remove(language);
        others
    }

    /// Iterates over the names of all library functions that the tables replace.
    pub fn function_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Iterates over the names of all operations in the tables; with the reason if a table rejects the operation.
    pub fn operation_names(&self) -> impl ExactSizeIterator<Item = (&str, Option<&str>)> {
        self.operations.iter().map(|(name, replacement)| (name.as_str(), replacement.refused.as_deref()))
    }
}
