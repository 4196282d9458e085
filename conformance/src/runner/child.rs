//! One worker process, as the runner sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::record::Record;
use super::{HarnessError, Worker};

/// A running worker.
pub(super) struct Child {
    process: std::process::Child,
    records: Receiver<Record>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Held open: a worker ends itself when it closes.
    _input: Option<ChildStdin>,
}

/// What came next from a worker.
pub(super) enum Event {
    /// It said something.
    Record(Record),
    /// It ended without saying so.
    Ended,
    /// It said nothing in the time it had.
    Late,
    /// The run is to end, whatever it says.
    Stopped,
}

/// How often a silent worker is asked whether it still lives.
const TICK: Duration = Duration::from_millis(50);
/// Longer lines than this are no records.
const MAX_LINE: u64 = 1 << 24;
/// The last part of standard error that is kept for messages.
const KEPT_ERRORS: usize = 4096;

impl Child {
    pub(super) fn start(worker: &Worker, target: &str, names: &[String]) -> Result<Self, HarnessError> {
        let mut command = worker.command(target);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        own_group(&mut command);
        let cannot = |error| HarnessError::Spawn { program: worker.program().display().to_string(), error };
        let mut process = command.spawn().map_err(cannot)?;
        let (sender, records) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            std::thread::spawn(move || read_records(output, &sender));
        }
        let errors = Arc::new(Mutex::new(Vec::new()));
        if let Some(stream) = process.stderr.take() {
            let kept = Arc::clone(&errors);
            std::thread::spawn(move || keep_tail(stream, &kept));
        }
        let mut input = process.stdin.take();
        if let Some(input) = &mut input {
            // A worker that is gone already is noticed by its silence.
            let _ = input.write_all(format!("{}\n\n", names.join("\n")).as_bytes());
        }
        Ok(Self { process, records, errors, _input: input })
    }

    /// The next event, at the latest at `deadline` or soon after `stop` is set.
    pub(super) fn next(&mut self, deadline: Instant, stop: &AtomicBool) -> Event {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Event::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.records.recv_timeout(left.min(TICK)) {
                Ok(record) => return Event::Record(record),
                Err(RecvTimeoutError::Disconnected) => return Event::Ended,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Event::Late,
                // Its descendants may hold the pipe open after it has ended.
                Err(RecvTimeoutError::Timeout) if has_ended(&mut self.process) => {
                    return self.records.recv_timeout(TICK).map_or(Event::Ended, Event::Record);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends the worker and its descendants; says how it ended if it did by itself, and the end of
    /// what it wrote to standard error.
    pub(super) fn finish(mut self) -> (Option<ExitStatus>, String) {
        let patience = Instant::now() + 4 * TICK;
        while !has_ended(&mut self.process) && Instant::now() < patience {
            std::thread::sleep(TICK / 10);
        }
        let by_itself = has_ended(&mut self.process);
        end_group(&mut self.process);
        let status = self.process.wait().ok().filter(|_| by_itself);
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        (status, String::from_utf8_lossy(&errors).trim().to_owned())
    }

    /// Ends the worker and its descendants at once.
    pub(super) fn kill(mut self) -> String {
        end_group(&mut self.process);
        let _ = self.process.wait();
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&errors).trim().to_owned()
    }
}

fn read_records(output: impl Read, to: &mpsc::Sender<Record>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(record) = Record::read(&line)
            && to.send(record).is_err()
        {
            return;
        }
    }
}

fn keep_tail(mut stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..read]);
        let surplus = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..surplus);
    }
}

/// A group of its own, so that what a case started ends with it.
#[cfg(unix)]
fn own_group(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut std::process::Command) {}

/// Whether the process has ended; it stays a zombie, so that its number stays its group's.
#[cfg(unix)]
fn has_ended(process: &mut std::process::Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
}

#[cfg(not(unix))]
fn has_ended(process: &mut std::process::Child) -> bool {
    !matches!(process.try_wait(), Ok(None))
}

#[cfg(unix)]
fn end_group(process: &mut std::process::Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        // An error means that nobody is left to end.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(process: &mut std::process::Child) {
    let _ = process.kill();
}
