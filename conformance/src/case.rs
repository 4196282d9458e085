//! A case of the conformance suite: a name and a check.

use std::fmt;

use conformance_pack::FigurePoint;
use tilewright_verify::TestCase;

use crate::{Context, EvidenceLevel, Status};

/// The result of a case whose check ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the case passed; never [`Status::Timeout`], since the case ran to its end.
    pub status: Status,
    /// The kind of evidence (layout algebra, code generation, emulator or device); `None` if the case gave no evidence.
    pub level: Option<EvidenceLevel>,
    /// Notes for the user, such as the cause of a failure; see [`crate::Outcome::detail`].
    pub detail: String,
}

impl Verdict {
    /// Returns the verdict that all assertions of the case hold; `level` is the kind of evidence.
    #[must_use]
    pub fn pass(level: EvidenceLevel) -> Self {
        Self { status: Status::Pass, level: Some(level), detail: String::new() }
    }

    /// Returns the verdict that an assertion does not hold. `level` is the kind of check that failed, `detail` the
    /// reason.
    #[must_use]
    pub fn fail(level: EvidenceLevel, detail: impl Into<String>) -> Self {
        Self { status: Status::Fail, level: Some(level), detail: detail.into() }
    }

    /// Returns the verdict that everything the case asserts holds, but a cost is above its lower bound. `detail` names
    /// the cost.
    #[must_use]
    pub fn quality(level: EvidenceLevel, detail: impl Into<String>) -> Self {
        Self { status: Status::Quality, level: Some(level), detail: detail.into() }
    }

    /// Returns the verdict that the target cannot do what the case needs, with the reason.
    #[must_use]
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self { status: Status::Unsupported, level: None, detail: reason.into() }
    }

    /// Returns the verdict that the case could not run here, for a reason other than the target's capabilities.
    #[must_use]
    pub fn skip(reason: impl Into<String>) -> Self {
        Self { status: Status::Skip, level: None, detail: reason.into() }
    }

    /// Returns the verdict that the plugin's process ended or hung during the case.
    #[must_use]
    pub fn crash(detail: impl Into<String>) -> Self {
        Self { status: Status::Crash, level: None, detail: detail.into() }
    }

    /// Converts the result of checking a law (a property of layouts) to a verdict: pass with evidence of this level, or
    /// fail with the error message.
    #[must_use]
    pub fn from_law(level: EvidenceLevel, law: Result<(), String>) -> Self {
        match law {
            Ok(()) => Self::pass(level),
            Err(detail) => Self::fail(level, detail),
        }
    }

    /// Sets the note for the user, such as the cause of a failure.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// The kernels of a case: compiled on this machine, they may run here or, from a pack, on another machine.
#[derive(Debug)]
pub struct CaseKernels {
    /// The kernels with their inputs and expected outputs.
    pub test_cases: Vec<TestCase>,
    /// The figure of measurements, with point and variant, that the case belongs to; `None` if it belongs to none.
    pub figure: Option<FigurePoint>,
}

impl From<Vec<TestCase>> for CaseKernels {
    fn from(test_cases: Vec<TestCase>) -> Self {
        Self { test_cases, figure: None }
    }
}

/// Function that builds a case's kernels, or returns the reason for none as a verdict.
type MakeTestCases = Box<dyn Fn(&Context) -> Result<CaseKernels, Verdict> + Send + Sync>;

/// Function that runs a case's check in the current process.
type Check = Box<dyn Fn(&Context) -> Verdict + Send + Sync>;

/// A case of the conformance suite. All that it checks depends only on its name and the target.
pub struct Case {
    name: String,
    check: Check,
    test_cases: Option<MakeTestCases>,
}

impl Case {
    /// Creates a case. The name is a path of words of letters, digits, `.`, `_`, `+` and `-`, which shells and globs
    /// read literally; [`crate::list_cases`] rejects other names.
    pub fn new(name: impl Into<String>, check: impl Fn(&Context) -> Verdict + Send + Sync + 'static) -> Self {
        Self { name: name.into(), check: Box::new(check), test_cases: None }
    }

    /// Adds kernels that check the case's assertion on a device, so that the case can be packed.
    #[must_use]
    pub fn with_test_cases<T: Into<CaseKernels>>(
        self,
        test_cases: impl Fn(&Context) -> Result<T, Verdict> + Send + Sync + 'static,
    ) -> Self {
        Self { test_cases: Some(Box::new(move |context| test_cases(context).map(Into::into))), ..self }
    }

    /// Builds the case's kernels; `None` if the case has none and so cannot be packed.
    #[must_use]
    pub fn test_cases(&self, context: &Context) -> Option<Result<CaseKernels, Verdict>> {
        self.test_cases.as_ref().map(|test_cases| test_cases(context))
    }

    /// Whether the case has kernels, so that it can be packed.
    #[must_use]
    pub fn has_test_cases(&self) -> bool {
        self.test_cases.is_some()
    }

    /// Returns the case's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the case's check in this process.
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
