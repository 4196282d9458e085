//! Reads lists of expectations (known deviations) from TOML.

use std::io;
use std::path::{Path, PathBuf};

use globset::Glob;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Entry, Expectations, List};
use crate::{CaseFilter, FilterError};

/// The reason why a file of expectations cannot be used. The fault lies with the author of the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExpectationsError {
    /// The file cannot be read.
    #[error("cannot read the lists {}: {error}; `--bless` writes them", file.display())]
    Read {
        /// The path of the unreadable file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file is not a list of expectations.
    #[error("{}: {message}", file.display())]
    Text {
        /// The path of the malformed file.
        file: PathBuf,
        /// The violated rule and its position.
        message: String,
    },
    /// A glob of target or case names is malformed.
    #[error("{}: {error}", file.display())]
    Glob {
        /// The path of the file with the glob.
        file: PathBuf,
        /// The glob and what is wrong with it.
        error: FilterError,
    },
}

/// The content of the file as TOML tables.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ExpectationsFile {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unsupported: Vec<ExpectationsFileEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) expected_failure: Vec<ExpectationsFileEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) flake: Vec<ExpectationsFileEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectationsFileEntry {
    pub(super) target: String,
    pub(super) reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) cases: Vec<String>,
}

impl Expectations {
    /// Reads the lists of expectations in a TOML file.
    ///
    /// # Errors
    /// [`ExpectationsError`] if the file cannot be read, is not a list, or has a malformed glob.
    pub fn read(file: &Path) -> Result<Self, ExpectationsError> {
        let unreadable = |error| ExpectationsError::Read { file: file.to_owned(), error };
        Self::parse(file, &std::fs::read_to_string(file).map_err(unreadable)?)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, ExpectationsError> {
        let wrong = |message: String| ExpectationsError::Text { file: file.to_owned(), message };
        let glob = |error| ExpectationsError::Glob { file: file.to_owned(), error };
        let written: ExpectationsFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let lists = [
            (List::Unsupported, written.unsupported),
            (List::ExpectedFailure, written.expected_failure),
            (List::Flake, written.flake),
        ];
        let mut entries = Vec::new();
        for (list, entry) in lists.into_iter().flat_map(|(list, of)| of.into_iter().map(move |entry| (list, entry))) {
            if entry.reason.trim().is_empty() || entry.cases.is_empty() {
                return Err(wrong(format!("an entry for `{}` needs a reason and cases", entry.target)));
            }
            if entry.message.is_some() && list != List::ExpectedFailure {
                return Err(wrong("only what is expected to fail has a `message`".to_owned()));
            }
            let cases = CaseFilter::new(&entry.cases).map_err(glob)?;
            let targets = Glob::new(&entry.target)
                .map_err(|error| glob(FilterError { glob: entry.target.clone(), message: error.kind().to_string() }))?
                .compile_matcher();
            let ExpectationsFileEntry { target, reason, message, cases: names } = entry;
            entries.push(Entry { list, target, targets, names, cases, reason, message });
        }
        Ok(Self { entries })
    }
}
