//! Known answers: rows of questions and what is right, that came from elsewhere than this code.
//!
//! The suite carries a selection for what every target shares. A plugin may bring its own, in a file
//! beside its library, and the user may name more; all are in the formats of `docs/conformance.md`.

mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;
use thiserror::Error;

pub use read::beside;

/// One question and its answer, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is called where it came from.
    pub id: String,
    text: String,
}

impl Row {
    /// The row.
    #[must_use]
    pub fn json(&self) -> Json {
        // It was read once, or it would be no row.
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// Rows by what they are about.
pub type Rows = BTreeMap<String, Vec<Row>>;

/// All known answers at hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Layouts, by the families of the spec, the outermost first: `slice-of-blocked`.
    pub layouts: Rows,
    /// Operations on linear layouts, by operation.
    pub algebra: Rows,
    /// Operations on CuTe layouts, by operation.
    pub cute: Rows,
    /// What vendors say of architectures, by what it is about: `banks`, `limits`.
    pub facts: Rows,
}

/// A file of known answers cannot be used; the fault of who named it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// The file or directory cannot be read.
    #[error("known answers {}: cannot be read: {message}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        message: String,
    },
    /// There is nothing to read.
    #[error("known answers {}: has no row of known answers: expected {}", .file.display(), read::EXPECTED)]
    Empty {
        /// The file or directory.
        file: PathBuf,
    },
    /// A row is malformed.
    #[error("known answers {}, {place}: {message}", .file.display())]
    Row {
        /// The file.
        file: PathBuf,
        /// The line or the number of the case.
        place: String,
        /// What is wrong with it.
        message: String,
    },
}

impl Answers {
    /// Those that the suite carries: of the neutral families, of the algebra and of CuTe's.
    #[must_use]
    pub fn carried() -> Self {
        read::carried()
    }

    /// Adds those of a file, or of the files with known names in a directory and those directly below
    /// it. Rows that are known already are passed over.
    ///
    /// # Errors
    /// [`AnswersError`].
    pub fn add(&mut self, path: &std::path::Path) -> Result<(), AnswersError> {
        read::add(self, path)
    }

    fn insert(rows: &mut Rows, about: String, row: Row) {
        let rows = rows.entry(about).or_default();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
}
