//! Which cases to run: globs over their names.

use globset::{Glob, GlobMatcher};
use thiserror::Error;

/// Globs over case names. A case is chosen where one of them matches its name, or a leading part
/// of it that ends at a `/`; without globs every case is.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    globs: Vec<GlobMatcher>,
}

/// A glob that cannot be read; its writer's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{glob}` is no glob: {message}")]
pub struct FilterError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub message: String,
}

impl Filter {
    /// The filter of the given globs. `*` and `?` match any characters, `/` too; `[ab]` and
    /// `{one,other}` are alternatives.
    ///
    /// # Errors
    /// [`FilterError`].
    pub fn new(globs: &[String]) -> Result<Self, FilterError> {
        let read = |text: &String| {
            let wrong = |error: globset::Error| FilterError { glob: text.clone(), message: error.kind().to_string() };
            Glob::new(text.trim_end_matches('/')).map(|glob| glob.compile_matcher()).map_err(wrong)
        };
        Ok(Self { globs: globs.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether the case of this name is chosen.
    #[must_use]
    pub fn chooses(&self, name: &str) -> bool {
        self.globs.is_empty() || self.globs.iter().any(|glob| matches(glob, name))
    }

    /// The globs that choose none of the given names: most likely mistyped.
    pub fn idle<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        let idle = |glob: &&GlobMatcher| !names.iter().any(|name| matches(glob, name));
        self.globs.iter().filter(idle).map(|glob| glob.glob().glob())
    }
}

fn matches(glob: &GlobMatcher, name: &str) -> bool {
    let leading = name.match_indices('/').map(|(at, _)| &name[..at]);
    leading.chain([name]).any(|part| glob.is_match(part))
}
