//! Known answers: problems with expected results from sources outside this code.
//!
//! The suite carries the known answers that apply to every target. A plugin may bring its own in a file next to its
//! library, and the user may name more; `docs/conformance.md` defines the formats.

mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;
use thiserror::Error;

pub use read::plugin_answers_file;

/// A known answer: a problem and its expected result, as a line of JSON from its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAnswer {
    /// Identifier of the known answer in its file; for an operation of CuTe, its inputs as text.
    pub id: String,
    text: String,
}

impl KnownAnswer {
    /// Parses the line of JSON that holds the known answer.
    #[must_use]
    pub fn parse_json(&self) -> Json {
        // The row was parsed once when it was read, so the default is never used.
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// Known answers by subject, such as the name of a layout family or of an operation.
pub type KnownAnswersBySubject = BTreeMap<String, Vec<KnownAnswer>>;

/// All known answers that were loaded, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownAnswers {
    /// Expected layouts, by the layout families in the layout's spec, the outermost first, such as `slice-of-blocked`.
    pub layouts: KnownAnswersBySubject,
    /// Expected results of operations on linear layouts, by operation.
    pub algebra: KnownAnswersBySubject,
    /// Expected results of operations on layouts of CuTe (NVIDIA's layout library), by operation.
    pub cute: KnownAnswersBySubject,
    /// Facts on architectures from vendor documentation, by subject, such as `banks` or `limits`.
    pub facts: KnownAnswersBySubject,
}

/// The reason why a file of known answers cannot be used. The fault lies with the plugin or user that named the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// The file or directory cannot be read.
    #[error("known answers {}: cannot be read: {message}", .file.display())]
    Unreadable {
        /// The path of the unreadable file or directory.
        file: PathBuf,
        /// The message of the operating system.
        message: String,
    },
    /// The file or directory has no known answers.
    #[error("known answers {}: has no row of known answers: expected {}", .file.display(), read::EXPECTED)]
    Empty {
        /// The path of the empty file or directory.
        file: PathBuf,
    },
    /// A known answer is malformed.
    #[error("known answers {}, {location}: {message}", .file.display())]
    Row {
        /// The path of the file with the malformed answer.
        file: PathBuf,
        /// Position in the file: the line, or the index of the entry.
        location: String,
        /// The fault of the malformed answer.
        message: String,
    },
}

impl KnownAnswers {
    /// Returns the answers that the suite carries: vendor-neutral layout families, operations on linear layouts, and
    /// operations on CuTe layouts.
    #[must_use]
    pub fn builtin() -> Self {
        read::read_builtin()
    }

    /// Adds the answers of a file, or of the files with known names in a directory and directly below it. Skips answers
    /// that are already loaded, since a plugin and the user may name the same file.
    ///
    /// # Errors
    /// [`AnswersError`] if a file cannot be read, has no answers, or has a malformed one.
    pub fn add_files(&mut self, path: &std::path::Path) -> Result<(), AnswersError> {
        read::add(self, path)
    }

    fn insert(rows: &mut KnownAnswersBySubject, about: String, row: KnownAnswer) {
        let rows = rows.entry(about).or_default();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
}
