//! One worker's life, and what its death says.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::record::Record;
use super::{HarnessError, Runner};
use crate::{Outcome, Status};
use tilewright_plugin::{ChildEnd, ChildEvent, ChildProcess};

/// A worker broke under, or right after, a case.
#[derive(Debug)]
pub(super) struct Broken {
    /// Which of the cases of the attempt.
    pub(super) case: usize,
    /// What is to be reported of it.
    pub(super) outcome: Outcome,
}

/// Takes outcomes that are final.
type Tell<'a> = &'a mut dyn FnMut(&str, Outcome);

/// Opening a target loads libraries, on a machine that other workers keep busy.
const STARTUP: Duration = Duration::from_secs(60);

impl Runner {
    /// Runs cases in one new worker until all have ended or it breaks.
    pub(super) fn attempt(
        &self,
        target: &str,
        cases: &[String],
        tell: Tell<'_>,
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
            match child.next(since + time, &self.stop) {
                ChildEvent::Message(Record::Done) if progress.complete() => {
                    child.finish();
                    progress.settle(tell);
                    return Ok(None);
                }
                ChildEvent::Message(Record::Unable { message }) => {
                    child.kill();
                    return Err(HarnessError::Worker { target: target.to_owned(), message });
                }
                ChildEvent::Message(record) => {
                    if !progress.take(record, tell) {
                        child.kill();
                        return Err(failed(target, "its records are out of order", ""));
                    }
                    since = Instant::now();
                }
                ChildEvent::Ended => {
                    let elapsed = since.elapsed();
                    let detail = ended(&child.finish());
                    let broken = progress.broken(Status::Crash, detail.clone(), elapsed);
                    return broken.map(Some).ok_or_else(|| failed(target, &detail, ""));
                }
                ChildEvent::Stopped => {
                    child.kill();
                    return Err(HarnessError::Stopped);
                }
                ChildEvent::Late => {
                    let errors = child.kill().last_words;
                    let detail = format!("no end within {:?}", time);
                    let broken = progress.broken(Status::Timeout, with_errors(&detail, &errors), time);
                    return broken.map(Some).ok_or_else(|| failed(target, "it does not start", &errors));
                }
            }
        }
    }

    /// What is to be reported of a case under which a worker broke after the cases `before` it had
    /// ended in the same process.
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
        let again = self.attempt(target, std::slice::from_ref(suspect), &mut |_, outcome| alone = Some(outcome))?;
        if let Some(again) = again {
            return Ok(again.outcome);
        }
        let mut outcome = broken.outcome;
        let alone = alone.map_or_else(String::new, |alone| format!("; alone its status is {}", alone.status));
        let company = match outcome.status {
            // To bisect a hang would take the whole time-out at each step.
            Status::Timeout => String::new(),
            _ => match self.accomplice(target, before, suspect)? {
                Some(name) => format!(", after `{name}` in the same process"),
                None => ", once, after other cases in the same process".to_owned(),
            },
        };
        outcome.detail = format!("{}{company}{alone}", outcome.detail);
        Ok(outcome)
    }

    /// The one case after which the suspect breaks its process, by bisection; `None` where it takes
    /// several, or happened once only.
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

/// How far a worker has come.
struct Progress<'a> {
    cases: &'a [String],
    ready: bool,
    /// The first case that has not ended.
    next: usize,
    /// Whether it has begun.
    started: bool,
    /// The outcome of the case before it, until the worker has gone on.
    held: Option<Outcome>,
}

impl<'a> Progress<'a> {
    fn new(cases: &'a [String]) -> Self {
        Self { cases, ready: false, next: 0, started: false, held: None }
    }

    fn complete(&self) -> bool {
        self.ready && self.next == self.cases.len()
    }

    /// Notes a record; false where it makes no sense here.
    fn take(&mut self, record: Record, tell: Tell<'_>) -> bool {
        let expected = |name: &String| self.ready && self.cases.get(self.next) == Some(name);
        match record {
            Record::Ready if !self.ready => self.ready = true,
            Record::Start { name } if expected(&name) && !self.started => {
                self.settle(tell);
                self.started = true;
            }
            Record::End { name, outcome } if expected(&name) && self.started => {
                self.held = Some(outcome);
                self.started = false;
                self.next += 1;
            }
            _ => return false,
        }
        true
    }

    /// Makes the outcome that is held final.
    fn settle(&mut self, tell: Tell<'_>) {
        if let Some(outcome) = self.held.take() {
            tell(&self.cases[self.next - 1], outcome);
        }
    }

    /// The case to which the worker's death belongs: the one under way, or the one that has just
    /// ended; `None` before the first.
    fn broken(&self, status: Status, detail: String, duration: Duration) -> Option<Broken> {
        let case = if self.started { Some(self.next) } else { self.held.as_ref().map(|_| self.next - 1) };
        let detail = if self.started { detail } else { format!("{detail}, after the case had ended") };
        case.map(|case| Broken {
            case,
            outcome: Outcome { status, level: None, detail, duration, layouts: Vec::new() },
        })
    }
}

fn ended(end: &ChildEnd) -> String {
    let how = end.status.map_or_else(|| "closed its output".to_owned(), |status| status.to_string());
    with_errors(&format!("the process ended: {how}"), &end.last_words)
}

fn with_errors(what: &str, errors: &str) -> String {
    if errors.is_empty() { what.to_owned() } else { format!("{what}; it wrote: {errors}") }
}

fn failed(target: &str, what: &str, errors: &str) -> HarnessError {
    HarnessError::Worker { target: target.to_owned(), message: with_errors(what, errors) }
}
