//! Executes cases in child processes, so that a case which crashes or hangs costs only itself.
//!
//! Cases run in batches. A worker says when it starts and ends each, so when one breaks, the case
//! under way is the suspect; it is run again alone, and if it only breaks in company the batch is
//! bisected for the case that it needs. The rest of the batch goes to a new worker. An outcome
//! is final once its worker goes on to live: an end that the process did not survive is a crash.

mod attempt;
mod record;
mod retry;
mod serve;

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use thiserror::Error;

use crate::CaseResult;

pub(crate) use serve::serve;

/// How a worker is started: a program and arguments, to which `--target NAME` is added.
#[derive(Debug, Clone)]
pub struct Worker {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Worker {
    /// A worker by program and arguments.
    #[must_use]
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments }
    }

    fn program(&self) -> &Path {
        &self.program
    }

    fn command(&self, target: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("--target").arg(target);
        command
    }
}

/// Cases of one target that share a process as long as it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The target.
    pub target: String,
    /// Names of cases, in the order in which they run.
    pub cases: Vec<String>,
}

impl Batch {
    /// The given cases in batches of at most `size`.
    #[must_use]
    pub fn split(target: &str, cases: &[String], size: usize) -> Vec<Self> {
        let batch = |cases: &[String]| Self { target: target.to_owned(), cases: cases.to_vec() };
        cases.chunks(size.max(1)).map(batch).collect()
    }
}

/// The harness itself failed: nothing is said about the cases that did not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A worker cannot be started.
    #[error("cannot start a worker, {program}: {error}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// A worker did not get as far as its first case, or said what makes no sense.
    #[error("a worker for target `{target}` failed: {message}")]
    Worker {
        /// The target.
        target: String,
        /// What happened.
        message: String,
    },
    /// The run was told to stop.
    #[error("the run was stopped")]
    Stopped,
    /// An earlier run says so, whose results were read.
    #[error("{0}")]
    Earlier(String),
}

/// Runs batches.
#[derive(Debug, Clone)]
pub struct Runner {
    /// How workers are started.
    pub worker: Worker,
    /// How many run at a time.
    pub jobs: usize,
    /// The time that one case has.
    pub timeout: Duration,
    /// How often a case that fails is run again.
    pub retries: u8,
    /// Once it is set no case begins, and those under way are ended without an outcome.
    pub stop: Arc<AtomicBool>,
}

impl Runner {
    /// Runs all batches and hands each outcome to `observe` as soon as it is final. Where the
    /// harness fails for a target, that target's other cases are left and the errors come back. To be stopped is
    /// no error.
    pub fn run(&self, batches: Vec<Batch>, mut observe: impl FnMut(CaseResult)) -> Vec<HarnessError> {
        let queue = Mutex::new(VecDeque::from(batches));
        let broken = Mutex::new(BTreeSet::new());
        let errors = Mutex::new(Vec::new());
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while let Some(batch) = lock(&queue).pop_front() {
                        if lock(&broken).contains(&batch.target) {
                            continue;
                        }
                        // The receiver lives until all senders are gone.
                        let tell = |result| drop(sender.send(result));
                        match self.run_batch(&batch, tell) {
                            Ok(()) => {}
                            Err(HarnessError::Stopped) => break,
                            Err(error) => {
                                lock(&broken).insert(batch.target);
                                lock(&errors).push(error);
                            }
                        }
                    }
                });
            }
            drop(sender);
            results.into_iter().for_each(&mut observe);
        });
        errors.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one batch to its end; what fails is run again alone, when all others have ended.
    fn run_batch(&self, batch: &Batch, tell: impl Fn(CaseResult)) -> Result<(), HarnessError> {
        let failed = RefCell::new(Vec::new());
        self.run_once(batch, |result| {
            if self.retries > 0 && result.outcome.status.is_failure() {
                failed.borrow_mut().push(result);
            } else {
                tell(result);
            }
        })?;
        failed.into_inner().into_iter().try_for_each(|result| {
            tell(self.retried(result)?);
            Ok(())
        })
    }

    /// Runs one batch to its end, in as many workers as it takes.
    fn run_once(&self, batch: &Batch, tell: impl Fn(CaseResult)) -> Result<(), HarnessError> {
        let result = |name: &str, outcome| CaseResult { target: batch.target.clone(), name: name.to_owned(), outcome };
        let mut rest = &batch.cases[..];
        while !rest.is_empty() {
            let broken = self.attempt(&batch.target, rest, &mut |name, outcome| tell(result(name, outcome)))?;
            let Some(broken) = broken else { break };
            let (before, after) = rest.split_at(broken.case);
            let Some((suspect, after)) = after.split_first() else { break };
            tell(result(suspect, self.examine(&batch.target, before, suspect, broken)?));
            rest = after;
        }
        Ok(())
    }
}

/// A poisoned lock guards plain collections here, which no panic leaves half-written.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
