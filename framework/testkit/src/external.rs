//! Tests that need something which Rust's toolchain does not bring: a tool, a runtime, the data beside the repository.
//!
//! The executable `external` of a crate lists them, each with its needs. If the machine lacks one, the harness reports the test
//! as ignored with the reason, never as passed; at the end each such test has a line `ignored: CRATE::TEST: REASON`, which
//! `.ci/run` collects.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::shared_data;

/// One thing that a test needs.
#[derive(Debug, Clone)]
pub struct Need {
    name: String,
    missing: Option<String>,
}

impl Need {
    /// A tool, as its owner finds it; the error says where it was looked for.
    pub fn tool(name: &str, found: Result<PathBuf, impl Display>) -> Self {
        Self::of(name, found.err().map(|error| error.to_string()))
    }

    /// A program along `PATH`.
    pub fn program(name: &str) -> Self {
        let missing = which::which(name).err().map(|_| format!("`{name}` is not on PATH"));
        Self::of(name, missing)
    }

    /// A file or folder of the data beside the repository.
    pub fn shared(path: &str) -> Self {
        let file = shared_data::path(path);
        let missing = (!file.exists()).then(|| format!("{} does not exist", file.display()));
        Self::of(&format!("shared/{path}"), missing)
    }

    /// Anything else: `missing` says why the machine lacks it, if it does.
    pub fn of(name: &str, missing: Option<String>) -> Self {
        // A reason is one line, so that the list of ignored tests can be searched.
        let missing = missing.map(|why| why.split_whitespace().collect::<Vec<_>>().join(" "));
        Self { name: name.to_owned(), missing }
    }

    fn reason(&self) -> Option<String> {
        self.missing.as_ref().map(|why| format!("needs {}: {why}", self.name))
    }
}

/// One test with its needs.
pub struct ExternalTest {
    name: String,
    reason: Option<String>,
    run: Box<dyn FnOnce() + Send>,
}

impl ExternalTest {
    /// A test of this name that runs if the machine has all of `needs`.
    pub fn new(name: &str, needs: impl IntoIterator<Item = Need>, run: impl FnOnce() + Send + 'static) -> Self {
        let reason = needs.into_iter().find_map(|need| need.reason());
        // The standard library writes a path's text with spaces in some versions.
        Self { name: name.replace(' ', ""), reason, run: Box::new(run) }
    }

    fn trial(self) -> Trial {
        let (reason, run) = (self.reason.clone(), self.run);
        let runner = move || {
            // An ignored test runs if it is asked for by `--ignored`; then it fails for its reason.
            if let Some(reason) = reason {
                return Err(Failed::from(reason));
            }
            run();
            Ok(())
        };
        let trial = Trial::test(self.name, runner);
        match self.reason {
            Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
            None => trial,
        }
    }
}

/// [`ExternalTest::new`] of a function, named by its path.
#[macro_export]
macro_rules! external_test {
    ($test:path, [$($need:expr),* $(,)?]) => {
        $crate::external::ExternalTest::new(stringify!($test), [$($need),*], $test)
    };
}

/// A test of all known answers: a function of how many to read, and the full files that it reads.
#[macro_export]
macro_rules! all_answers {
    ($test:path, [$($file:expr),* $(,)?]) => {
        $crate::external::ExternalTest::new(stringify!($test), [$($crate::external::Need::shared($file)),*], || {
            $test($crate::known_answers::Answers::All)
        })
    };
}

/// Runs the tests of a crate as the arguments of the program say, then lists those that were ignored.
pub fn run(package: &str, tests: Vec<ExternalTest>) -> ExitCode {
    let arguments = Arguments::from_args();
    let ignored: Vec<String> = tests.iter().filter_map(|test| ignored_line(package, test, &arguments)).collect();
    let conclusion = libtest_mimic::run(&arguments, tests.into_iter().map(ExternalTest::trial).collect());
    if !arguments.list {
        ignored.iter().for_each(|line| println!("{line}"));
    }
    conclusion.exit_code()
}

/// The line of an ignored test that the arguments choose.
fn ignored_line(package: &str, test: &ExternalTest, arguments: &Arguments) -> Option<String> {
    let matches = |pattern: &String| if arguments.exact { test.name == *pattern } else { test.name.contains(pattern) };
    let chosen = arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches);
    let is_left_out = chosen && !arguments.ignored && !arguments.include_ignored;
    test.reason.as_ref().filter(|_| is_left_out).map(|reason| format!("ignored: {package}::{}: {reason}", test.name))
}
