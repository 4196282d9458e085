//! Runs cases in one worker process and, if the process breaks, determines the case that broke it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::record::Record;
use super::{HarnessError, Runner};
use crate::{Outcome, Status};
use tilewright_plugin::{ChildEvent, ChildExit, ChildProcess};

/// The end of a worker process that broke (crashed, hung or sent an invalid record): the case during or right after
/// which it broke.
#[derive(Debug)]
pub(super) struct Broken {
    /// Index of the case in the list that the worker was given.
    pub(super) case: usize,
    /// The outcome to report for this case.
    pub(super) outcome: Outcome,
}

/// Function that receives the name and the final outcome of each case.
type OutcomeSink<'a> = &'a mut dyn FnMut(&str, Outcome);

/// Time limit for starting a worker process: it must open a target, which loads libraries, on a machine that other
/// workers keep busy.
const STARTUP: Duration = Duration::from_secs(60);

impl Runner {
    /// Runs cases in one new worker process until all have ended or the worker breaks. Passes each outcome to
    /// `report_outcome`. Returns the case that broke the worker, or `None` if all cases have ended.
    pub(super) fn attempt(
        &self,
        target: &str,
        cases: &[String],
        report_outcome: OutcomeSink<'_>,
    ) -> Result<Option<Broken>, HarnessError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(HarnessError::Stopped);
        }
        let cannot = |error| HarnessError::Spawn { program: self.worker.program().display().to_string(), error };
        let mut child = ChildProcess::start(self.worker.command(target), Record::next).map_err(cannot)?;
        child.send(format!("{}\n\n", cases.join("\n")).into_bytes());
        let mut progress = Progress::new(cases);
        let mut since = Instant::now();
        loop {
            let time = if progress.ready { self.timeout } else { self.timeout.max(STARTUP) };
            match child.next_event(since + time, &self.stop) {
                ChildEvent::Message(Record::Done) if progress.complete() => {
                    child.finish();
                    progress.flush_deferred_outcome(report_outcome);
                    return Ok(None);
                }
                ChildEvent::Message(Record::Unable { message }) => {
                    child.kill();
                    return Err(HarnessError::Worker { target: target.to_owned(), message });
                }
                ChildEvent::Message(record) => {
                    if !progress.process_record(record, report_outcome) {
                        child.kill();
                        return Err(failed(target, "its records are out of order", ""));
                    }
                    since = Instant::now();
                }
                ChildEvent::Exited => {
                    let elapsed = since.elapsed();
                    let detail = describe_end(&child.finish());
                    let broken = progress.broken(Status::Crash, detail.clone(), elapsed);
                    return broken.map(Some).ok_or_else(|| failed(target, &detail, ""));
                }
                ChildEvent::Stopped => {
                    child.kill();
                    return Err(HarnessError::Stopped);
                }
                ChildEvent::TimedOut => {
                    let errors = child.kill().stderr_tail;
                    let detail = format!("no end within {:?}", time);
                    let broken = progress.broken(Status::Timeout, with_errors(&detail, &errors), time);
                    return broken.map(Some).ok_or_else(|| failed(target, "it does not start", &errors));
                }
            }
        }
    }

    /// Determines the outcome of the case `suspect`. A worker broke at this case, with the outcome `broken`, after the
    /// cases `before` had ended in the same process. Runs the case again alone, and then after some of the cases
    /// `before`.
    pub(super) fn examine(
        &self,
        target: &str,
        before: &[String],
        suspect: &String,
        broken: Broken,
    ) -> Result<Outcome, HarnessError> {
        if before.is_empty() {
            return Ok(broken.outcome);
        }
        let mut alone = None;
        let rerun = self.attempt(target, std::slice::from_ref(suspect), &mut |_, outcome| alone = Some(outcome))?;
        if let Some(rerun) = rerun {
            return Ok(rerun.outcome);
        }
        let mut outcome = broken.outcome;
        let alone = alone.map_or_else(String::new, |alone| format!("; alone its status is {}", alone.status));
        let company = match outcome.status {
            // Bisecting a hang would take the full time limit at each step, so the earlier cases are not examined.
            Status::Timeout => String::new(),
            _ => match self.accomplice(target, before, suspect)? {
                Some(name) => format!(", after `{name}` in the same process"),
                None => ", once, after other cases in the same process".to_owned(),
            },
        };
        outcome.detail = format!("{}{company}{alone}", outcome.detail);
        Ok(outcome)
    }

    /// Finds by bisection the one case of `before` after which the case `suspect` breaks its process.
    ///
    /// Returns `None` if several earlier cases together break it, or the break does not recur.
    fn accomplice(&self, target: &str, before: &[String], suspect: &String) -> Result<Option<String>, HarnessError> {
        let mut candidates = before.to_vec();
        loop {
            let (first, second) = candidates.split_at(candidates.len().div_ceil(2));
            let mut guilty = None;
            for half in [first, second].into_iter().filter(|half| !half.is_empty()) {
                let cases: Vec<_> = half.iter().chain([suspect]).cloned().collect();
                if self.attempt(target, &cases, &mut |_, _| {})?.is_some_and(|broken| broken.case == half.len()) {
                    guilty = Some(half.to_vec());
                    break;
                }
            }
            match guilty {
                None => return Ok(None),
                Some(half) if half.len() == 1 => return Ok(half.into_iter().next()),
                Some(half) => candidates = half,
            }
        }
    }
}

/// The progress of a worker in its list of cases.
struct Progress<'a> {
    cases: &'a [String],
    ready: bool,
    /// Index of the first case that has not ended.
    next: usize,
    /// Whether the worker has started the case `next`.
    started: bool,
    /// The outcome of the last case that ended, held back until the next case starts, as the process may break at the
    /// end.
    last_outcome: Option<Outcome>,
}

impl<'a> Progress<'a> {
    fn new(cases: &'a [String]) -> Self {
        Self { cases, ready: false, next: 0, started: false, last_outcome: None }
    }

    fn complete(&self) -> bool {
        self.ready && self.next == self.cases.len()
    }

    /// Processes a record from the worker. Returns false if the record is out of order, so that the worker is broken.
    fn process_record(&mut self, record: Record, report_outcome: OutcomeSink<'_>) -> bool {
        let expected = |name: &String| self.ready && self.cases.get(self.next) == Some(name);
        match record {
            Record::Ready if !self.ready => self.ready = true,
            Record::Start { name } if expected(&name) && !self.started => {
                self.flush_deferred_outcome(report_outcome);
                self.started = true;
            }
            Record::End { name, outcome } if expected(&name) && self.started => {
                self.last_outcome = Some(outcome);
                self.started = false;
                self.next += 1;
            }
            _ => return false,
        }
        true
    }

    /// Reports the outcome that was held back until the next case started.
    fn flush_deferred_outcome(&mut self, report_outcome: OutcomeSink<'_>) {
        if let Some(outcome) = self.last_outcome.take() {
            report_outcome(&self.cases[self.next - 1], outcome);
        }
    }

    /// Returns the worker's end with this outcome, blamed on the running case, or else on the case that has just ended.
    /// Returns `None` before the first case.
    fn broken(&self, status: Status, detail: String, duration: Duration) -> Option<Broken> {
        let case = if self.started { Some(self.next) } else { self.last_outcome.as_ref().map(|_| self.next - 1) };
        let detail = if self.started { detail } else { format!("{detail}, after the case had ended") };
        case.map(|case| Broken {
            case,
            outcome: Outcome { status, level: None, detail, duration, layouts: Vec::new() },
        })
    }
}

fn describe_end(end: &ChildExit) -> String {
    let how = end.status.map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
    with_errors(&format!("the process ended: {how}"), &end.stderr_tail)
}

fn with_errors(what: &str, errors: &str) -> String {
    if errors.is_empty() { what.to_owned() } else { format!("{what}; it wrote: {errors}") }
}

fn failed(target: &str, what: &str, errors: &str) -> HarnessError {
    HarnessError::Worker { target: target.to_owned(), message: with_errors(what, errors) }
}
