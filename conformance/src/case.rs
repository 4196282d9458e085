//! A case: a name, and what to do.

use std::fmt;

use conformance_pack::Figure;
use tilewright_verify::TestCase;

use crate::{Context, Level, Status};

/// What a case says when it has run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The status; a case that runs to its end is never [`Status::Timeout`].
    pub status: Status,
    /// How strongly it was shown; `None` where nothing was.
    pub level: Option<Level>,
    /// See [`crate::Outcome::detail`].
    pub detail: String,
}

impl Verdict {
    /// Everything asserted holds.
    #[must_use]
    pub fn pass(level: Level) -> Self {
        Self { status: Status::Pass, level: Some(level), detail: String::new() }
    }

    /// Something asserted at this level does not hold.
    #[must_use]
    pub fn fail(level: Level, detail: impl Into<String>) -> Self {
        Self { status: Status::Fail, level: Some(level), detail: detail.into() }
    }

    /// Everything asserted holds, but the result is above its lower bound.
    #[must_use]
    pub fn quality(level: Level, detail: impl Into<String>) -> Self {
        Self { status: Status::Quality, level: Some(level), detail: detail.into() }
    }

    /// The target has no way to do this.
    #[must_use]
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self { status: Status::Unsupported, level: None, detail: reason.into() }
    }

    /// The case could not be run here, for a reason that is not the target's.
    #[must_use]
    pub fn skip(reason: impl Into<String>) -> Self {
        Self { status: Status::Skip, level: None, detail: reason.into() }
    }

    /// The plugin's process broke under the case.
    #[must_use]
    pub fn crash(detail: impl Into<String>) -> Self {
        Self { status: Status::Crash, level: None, detail: detail.into() }
    }

    /// A pass, or the failure that a law's check describes.
    #[must_use]
    pub fn of_law(level: Level, law: Result<(), String>) -> Self {
        match law {
            Ok(()) => Self::pass(level),
            Err(detail) => Self::fail(level, detail),
        }
    }

    /// The same, with a note for the reader.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// Kernels of a case, to be compiled here and run elsewhere.
#[derive(Debug)]
pub struct Trials {
    /// The kernels, with what they are given and must leave.
    pub trials: Vec<TestCase>,
    /// The place of the case in a figure, where it has one.
    pub figure: Option<Figure>,
}

impl From<Vec<TestCase>> for Trials {
    fn from(trials: Vec<TestCase>) -> Self {
        Self { trials, figure: None }
    }
}

/// What makes a case's kernels; the verdict where there are none.
type MakeTrials = Box<dyn Fn(&Context) -> Result<Trials, Verdict> + Send + Sync>;

/// What a case does.
type Check = Box<dyn Fn(&Context) -> Verdict + Send + Sync>;

/// One case. Its name says everything that it depends on but the target.
pub struct Case {
    name: String,
    check: Check,
    trials: Option<MakeTrials>,
}

impl Case {
    /// A case. The name is a path of words of letters, digits, `.`, `_`, `+` and `-`, so that it
    /// means only itself to a shell and as a glob; [`crate::list`] refuses others.
    pub fn new(name: impl Into<String>, check: impl Fn(&Context) -> Verdict + Send + Sync + 'static) -> Self {
        Self { name: name.into(), check: Box::new(check), trials: None }
    }

    /// The same with kernels that show on a device what the case shows: it can be packed.
    #[must_use]
    pub fn with_trials<T: Into<Trials>>(
        self,
        trials: impl Fn(&Context) -> Result<T, Verdict> + Send + Sync + 'static,
    ) -> Self {
        Self { trials: Some(Box::new(move |context| trials(context).map(Into::into))), ..self }
    }

    /// The kernels, where the case can be packed.
    #[must_use]
    pub fn trials(&self, context: &Context) -> Option<Result<Trials, Verdict>> {
        self.trials.as_ref().map(|trials| trials(context))
    }

    /// Whether it can be packed.
    #[must_use]
    pub fn has_trials(&self) -> bool {
        self.trials.is_some()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it in this process.
    #[must_use]
    pub fn run(&self, context: &Context) -> Verdict {
        (self.check)(context)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}
