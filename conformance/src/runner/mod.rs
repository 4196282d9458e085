//! Executes cases in child processes, so that a crash or hang costs one case only.
//!
//! Cases run in batches, one worker process for each. A worker reports the start and end of each case, so when it
//! breaks, the running case is the suspect. The suspect runs again alone; if it breaks only after other cases, the
//! batch is bisected for the one that causes this. The rest of the batch goes to a new worker. An outcome is final once
//! its worker has started the next case: if the process does not survive the end of a case, the outcome is a crash.

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

/// The command line of a worker process: a program and arguments, followed by `--target NAME`.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// Creates the command line of a worker process.
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

/// Cases of one target that share a worker process as long as the process lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseBatch {
    /// The name of the target that the cases are for.
    pub target: String,
    /// Names of the cases, in the order of running.
    pub cases: Vec<String>,
}

impl CaseBatch {
    /// Splits the cases of a target into batches of at most `size` cases.
    #[must_use]
    pub fn split_cases(target: &str, cases: &[String], size: usize) -> Vec<Self> {
        let batch = |cases: &[String]| Self { target: target.to_owned(), cases: cases.to_vec() };
        cases.chunks(size.max(1)).map(batch).collect()
    }
}

/// A failure of the harness (the program that runs the cases). Some cases then have no outcome.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A worker process cannot be started.
    #[error("cannot start a worker, {program}: {error}")]
    Spawn {
        /// The program that could not be started.
        program: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A worker ended before its first case, or sent an invalid record.
    #[error("a worker for target `{target}` failed: {message}")]
    Worker {
        /// The name of the target that the worker was to open.
        target: String,
        /// Description of the failure, with the worker's error output.
        message: String,
    },
    /// The run was stopped by its caller.
    #[error("the run was stopped")]
    Stopped,
    /// A failure of the harness that an earlier run recorded in its results.
    #[error("{0}")]
    Earlier(String),
}

/// Runs batches of cases in worker processes.
#[derive(Debug, Clone)]
pub struct Runner {
    /// Command line that starts a worker process.
    pub worker: WorkerCommand,
    /// Max number of worker processes that run at a time.
    pub jobs: usize,
    /// Time limit of one case; a case that exceeds it is killed.
    pub timeout: Duration,
    /// Max number of times that a failing case is repeated.
    pub retries: u8,
    /// A flag that stops the run: once set, no case starts, and running cases are ended without an outcome.
    pub stop: Arc<AtomicBool>,
}

impl Runner {
    /// Runs all batches and passes each outcome to `observe` as soon as it is final. If the harness fails for a target,
    /// the target's other cases are skipped. Returns the errors of the harness; a stop is not an error.
    pub fn run(&self, batches: Vec<CaseBatch>, mut observe: impl FnMut(CaseResult)) -> Vec<HarnessError> {
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
                        // The receiver outlives all senders, so sending does not fail and the result is ignored.
                        let report_outcome = |result| drop(sender.send(result));
                        match self.run_batch(&batch, report_outcome) {
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

    /// Runs one batch to its end; failed cases are repeated alone after all other cases have ended.
    fn run_batch(&self, batch: &CaseBatch, report_outcome: impl Fn(CaseResult)) -> Result<(), HarnessError> {
        let failed = RefCell::new(Vec::new());
        self.run_once(batch, |result| {
            if self.retries > 0 && result.outcome.status.is_failure() {
                failed.borrow_mut().push(result);
            } else {
                report_outcome(result);
            }
        })?;
        failed.into_inner().into_iter().try_for_each(|result| {
            report_outcome(self.retried(result)?);
            Ok(())
        })
    }

    /// Runs one batch to its end, with a new worker process after each that breaks.
    fn run_once(&self, batch: &CaseBatch, report_outcome: impl Fn(CaseResult)) -> Result<(), HarnessError> {
        let result = |name: &str, outcome| CaseResult { target: batch.target.clone(), name: name.to_owned(), outcome };
        let mut rest = &batch.cases[..];
        while !rest.is_empty() {
            let broken =
                self.attempt(&batch.target, rest, &mut |name, outcome| report_outcome(result(name, outcome)))?;
            let Some(broken) = broken else { break };
            let (before, after) = rest.split_at(broken.case);
            let Some((suspect, after)) = after.split_first() else { break };
            report_outcome(result(suspect, self.examine(&batch.target, before, suspect, broken)?));
            rest = after;
        }
        Ok(())
    }
}

/// Locks a mutex. Poisoning is harmless: the mutexes here guard plain collections, which no panic leaves half-written.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
