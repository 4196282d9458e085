//! Selects the cases of the suite to run, by globs over their names.

use globset::{Glob, GlobMatcher};
use thiserror::Error;

/// Globs over case names. A filter chooses a case if a glob matches the name or a leading part of the name that ends at
/// a `/`; an empty filter chooses every case.
#[derive(Debug, Clone, Default)]
pub struct CaseFilter {
    globs: Vec<GlobMatcher>,
}

/// A glob is malformed; the fault of its author.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{glob}` is not a glob: {message}")]
pub struct FilterError {
    /// The malformed glob, as the user wrote it.
    pub glob: String,
    /// The fault of the glob, as the parser reports it.
    pub message: String,
}

impl CaseFilter {
    /// Compiles the globs to a filter. `*` and `?` match any characters including `/`; `[ab]` and `{one,other}` are
    /// alternatives.
    ///
    /// # Errors
    /// [`FilterError`] if a glob is malformed.
    pub fn new(globs: &[String]) -> Result<Self, FilterError> {
        let read = |text: &String| {
            let wrong = |error: globset::Error| FilterError { glob: text.clone(), message: error.kind().to_string() };
            Glob::new(text.trim_end_matches('/')).map(|glob| glob.compile_matcher()).map_err(wrong)
        };
        Ok(Self { globs: globs.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether the filter chooses the case of this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.globs.is_empty() || self.globs.iter().any(|glob| matches(glob, name))
    }

    /// Returns the globs that match none of the given names, most likely mistyped.
    pub fn unmatched_globs<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        let idle = |glob: &&GlobMatcher| !names.iter().any(|name| matches(glob, name));
        self.globs.iter().filter(idle).map(|glob| glob.glob().glob())
    }
}

fn matches(glob: &GlobMatcher, name: &str) -> bool {
    let leading = name.match_indices('/').map(|(at, _)| &name[..at]);
    leading.chain([name]).any(|candidate| glob.is_match(candidate))
}
