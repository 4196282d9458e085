//! Groups: where cases come from.

use thiserror::Error;

use crate::{Case, Context};

/// A source of cases.
pub trait Group: Send + Sync {
    /// The first word of its cases' names.
    fn name(&self) -> &str;

    /// The subject of the case of this name, of which a sample of the group has to have one: an instruction, a family.
    /// None where any cases of the group stand for the others.
    fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
        let _ = name;
        None
    }

    /// The cases for a target. Two calls, also in different processes, give the same cases; building
    /// them is quick, the work is theirs.
    fn cases(&self, context: &Context) -> Vec<Case>;
}

/// A group broke the rules of names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// Two cases of one name could not be told apart in a report.
    #[error("two cases are named `{0}`")]
    Duplicate(String),
    /// See [`Case::new`].
    #[error(
        "`{name}` is no name for a case of group `{group}`: a path of letters, digits, `.`, `_`, `+`, `-` below `{group}/`"
    )]
    Name {
        /// The group.
        group: String,
        /// The name.
        name: String,
    },
}

/// All cases of some groups for a target, by name.
///
/// # Errors
/// [`ListError`], the group's author's fault.
pub fn list(groups: &[Box<dyn Group>], context: &Context) -> Result<Vec<Case>, ListError> {
    list_some(groups, context, |_| true)
}

/// The cases of those groups whose names are wanted, by name.
pub(crate) fn list_some(
    groups: &[Box<dyn Group>],
    context: &Context,
    is_requested: impl Fn(&str) -> bool,
) -> Result<Vec<Case>, ListError> {
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
        Some(pair) => Err(ListError::Duplicate(pair[0].name().to_owned())),
    }
}

fn check_name(group: &str, name: &str) -> Result<(), ListError> {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'))
    };
    let below = name.strip_prefix(group).and_then(|rest| rest.strip_prefix('/'));
    if below.is_some_and(|rest| rest.split('/').all(word)) {
        return Ok(());
    }
    Err(ListError::Name { group: group.to_owned(), name: name.to_owned() })
}
