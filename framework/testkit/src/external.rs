//! A harness for tests with requirements beyond Rust's toolchain: a tool, a runtime, or data outside of the repository.
//!
//! The executable `external` of a crate lists such tests, each with its requirements. If the machine lacks one, the
//! harness reports the test as ignored with the reason, never as passed. After the run each ignored test has a line
//! `ignored: CRATE::TEST: REASON`, which `.ci/run` collects.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::shared_data;

/// A requirement of a test, and whether this machine meets it.
#[derive(Debug, Clone)]
pub struct Need {
    name: String,
    missing: Option<String>,
}

impl Need {
    /// Requires a tool; `found` is the result of the search for it, whose error lists the searched paths.
    pub fn tool(name: &str, found: Result<PathBuf, impl Display>) -> Self {
        Self::of(name, found.err().map(|error| error.to_string()))
    }

    /// Requires a program on `PATH`.
    pub fn program(name: &str) -> Self {
        let missing = which::which(name).err().map(|_| format!("`{name}` is not on PATH"));
        Self::of(name, missing)
    }

    /// Requires the file or folder `path` of the test data outside of the repository.
    pub fn shared(path: &str) -> Self {
        let file = shared_data::path(path);
        let missing = (!file.exists()).then(|| format!("{} does not exist", file.display()));
        Self::of(&format!("shared/{path}"), missing)
    }

    /// Requires anything else: `missing` is the reason if the machine lacks it, and `None` if the machine has it.
    pub fn of(name: &str, missing: Option<String>) -> Self {
        // A reason is made one line, so that the list of ignored tests can be searched line by line.
        let missing = missing.map(|why| why.split_whitespace().collect::<Vec<_>>().join(" "));
        Self { name: name.to_owned(), missing }
    }

    fn reason(&self) -> Option<String> {
        self.missing.as_ref().map(|why| format!("needs {}: {why}", self.name))
    }
}

/// A test with its requirements.
pub struct ExternalTest {
    name: String,
    reason: Option<String>,
    run: Box<dyn FnOnce() + Send>,
}

impl ExternalTest {
    /// Creates a test of this name that runs if the machine has all of `needs`.
    pub fn new(name: &str, needs: impl IntoIterator<Item = Need>, run: impl FnOnce() + Send + 'static) -> Self {
        let reason = needs.into_iter().find_map(|need| need.reason());
        // Some versions of the standard library format a path with spaces.
        Self { name: name.replace(' ', ""), reason, run: Box::new(run) }
    }

    fn libtest(self) -> Trial {
        let (reason, run) = (self.reason.clone(), self.run);
        let runner = move || {
            // `--ignored` runs ignored tests too; then they fail with their reason.
            if let Some(reason) = reason {
                return Err(Failed::from(reason));
            }
            run();
            Ok(())
        };
        let libtest = Trial::test(self.name, runner);
        match self.reason {
            Some(reason) => libtest.with_kind(reason).with_ignored_flag(true),
            None => libtest,
        }
    }
}

/// Creates an [`ExternalTest`] of a function; the function's path is the test's name.
#[macro_export]
macro_rules! external_test {
    ($test:path, [$($need:expr),* $(,)?]) => {
        $crate::external::ExternalTest::new(stringify!($test), [$($need),*], $test)
    };
}

/// Creates a test that calls a function with [`Answers::All`](crate::known_answers::Answers::All); it requires the
/// listed files of known answers outside of the repository.
#[macro_export]
macro_rules! all_answers {
    ($test:path, [$($file:expr),* $(,)?]) => {
        $crate::external::ExternalTest::new(stringify!($test), [$($crate::external::Need::shared($file)),*], || {
            $test($crate::known_answers::Answers::All)
        })
    };
}

/// Runs the tests of a crate according to the program's arguments, then lists the ignored ones.
pub fn run(package: &str, tests: Vec<ExternalTest>) -> ExitCode {
    let arguments = Arguments::from_args();
    let ignored: Vec<String> = tests.iter().filter_map(|test| ignored_line(package, test, &arguments)).collect();
    let conclusion = libtest_mimic::run(&arguments, tests.into_iter().map(ExternalTest::libtest).collect());
    if !arguments.list {
        ignored.iter().for_each(|line| println!("{line}"));
    }
    conclusion.exit_code()
}

/// Returns the report line of an ignored test; `None` if the arguments do not select the test.
fn ignored_line(package: &str, test: &ExternalTest, arguments: &Arguments) -> Option<String> {
    let matches = |pattern: &String| if arguments.exact { test.name == *pattern } else { test.name.contains(pattern) };
    let chosen = arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches);
    let is_left_out = chosen && !arguments.ignored && !arguments.include_ignored;
    test.reason.as_ref().filter(|_| is_left_out).map(|reason| format!("ignored: {package}::{}: {reason}", test.name))
}
