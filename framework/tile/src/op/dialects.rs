//! All operations that are known.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use super::Definition;
use super::row::File;
use tilewright_target::nearest;

/// A dialect file that is wrong; its author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {message}")]
pub struct DialectError {
    /// What the file is called.
    pub file: String,
    /// The row, and what is wrong with it.
    pub message: String,
}

/// The operations of some dialects.
#[derive(Debug, Clone, Default)]
pub struct Dialects {
    operations: BTreeMap<Arc<str>, Arc<Definition>>,
}

/// The dialects that belong to no vendor.
const NEUTRAL: [(&str, &str); 11] = [
    ("arith.toml", include_str!("../dialects/arith.toml")),
    ("builtin.toml", include_str!("../dialects/builtin.toml")),
    ("cf.toml", include_str!("../dialects/cf.toml")),
    ("gluon.toml", include_str!("../dialects/gluon.toml")),
    ("llvm.toml", include_str!("../dialects/llvm.toml")),
    ("math.toml", include_str!("../dialects/math.toml")),
    ("scf.toml", include_str!("../dialects/scf.toml")),
    ("tt.toml", include_str!("../dialects/tt.toml")),
    ("ttg.toml", include_str!("../dialects/ttg.toml")),
    ("tw.toml", include_str!("../dialects/tw.toml")),
    ("ub.toml", include_str!("../dialects/ub.toml")),
];

impl Dialects {
    /// The dialects that belong to no vendor.
    ///
    /// # Panics
    /// Never: a test reads the files, which are part of the library.
    #[must_use]
    pub fn neutral() -> Self {
        static READ: OnceLock<Dialects> = OnceLock::new();
        let read = || {
            let mut dialects = Self::default();
            for (file, text) in NEUTRAL {
                if let Err(error) = dialects.add(file, text) {
                    panic!("{error}");
                }
            }
            dialects
        };
        READ.get_or_init(read).clone()
    }

    /// Adds the operations of a dialect file, called `file` in messages. One of a known name replaces it.
    ///
    /// # Errors
    /// [`DialectError`], and nothing is added.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), DialectError> {
        let wrong = |message: String| DialectError { file: file.to_owned(), message };
        let rows: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let definition = |(name, row): (&String, &super::row::Row)| {
            let definition = row.definition(name, &rows).map_err(|message| wrong(format!("`{name}`: {message}")))?;
            Ok((Arc::clone(&definition.name), Arc::new(definition)))
        };
        let read: Vec<_> = rows.operations.iter().map(definition).collect::<Result<_, _>>()?;
        self.operations.extend(read);
        Ok(())
    }

    /// The operation of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.operations.get(name)
    }

    /// The name that a mistyped one was probably meant to be.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.operations.keys().map(|known| &**known))
    }

    /// All operations, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Definition>> {
        self.operations.values()
    }
}
