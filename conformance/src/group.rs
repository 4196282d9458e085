//! Groups of the conformance suite: each lists the cases on one theme, such as layout conversions.

use thiserror::Error;

use crate::{Case, Context};

/// A group of cases on one theme, such as conversions.
pub trait CaseGroup: Send + Sync {
    /// Returns the group's name, the first component of the names of its cases.
    fn name(&self) -> &str;

    /// Returns the subject of the case `name`, such as an instruction or a layout family. A smoke run (a quick run of
    /// few cases) covers every subject once.
    ///
    /// Returns `None` if any few cases represent the whole group.
    fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
        let _ = name;
        None
    }

    /// Returns the group's cases for a target. The list is deterministic, also across processes, and cheap to build;
    /// cases do the work when they run.
    fn cases(&self, context: &Context) -> Vec<Case>;
}

/// The error of a list of cases with malformed or equal names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaseNameError {
    /// Two cases have the same name, so that a report cannot distinguish them.
    #[error("two cases are named `{0}`")]
    Duplicate(String),
    /// The name violates the rules of [`Case::new`].
    #[error(
        "`{name}` is not a case name of group `{group}`; expected a path of letters, digits, `.`, `_`, `+`, `-` \
         below `{group}/`"
    )]
    Name {
        /// The name of the group that listed the case.
        group: String,
        /// The name that violates the rules.
        name: String,
    },
}

/// Lists all cases of `groups` for a target, sorted by name.
///
/// # Errors
/// [`CaseNameError`] if two cases have the same name, or a name violates the rules of [`Case::new`].
pub fn list_cases(groups: &[Box<dyn CaseGroup>], context: &Context) -> Result<Vec<Case>, CaseNameError> {
    list_some(groups, context, |_| true)
}

/// Lists the cases of `groups` whose names pass the filter, sorted by name.
pub(crate) fn list_some(
    groups: &[Box<dyn CaseGroup>],
    context: &Context,
    is_requested: impl Fn(&str) -> bool,
) -> Result<Vec<Case>, CaseNameError> {
    let groups = groups.iter().filter(|group| is_requested(group.name()));
    let mut cases = Vec::new();
    for group in groups {
        for case in group.cases(context) {
            check_name(group.name(), case.name())?;
            cases.push(case);
        }
    }
    cases.sort_by(|a, b| a.name().cmp(b.name()));
    match cases.windows(2).find(|pair| pair[0].name() == pair[1].name()) {
        None => Ok(cases),
        Some(pair) => Err(CaseNameError::Duplicate(pair[0].name().to_owned())),
    }
}

fn check_name(group: &str, name: &str) -> Result<(), CaseNameError> {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'))
    };
    let below = name.strip_prefix(group).and_then(|rest| rest.strip_prefix('/'));
    if below.is_some_and(|rest| rest.split('/').all(word)) {
        return Ok(());
    }
    Err(CaseNameError::Name { group: group.to_owned(), name: name.to_owned() })
}
