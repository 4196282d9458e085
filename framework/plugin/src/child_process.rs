//! [`ChildProcess`]: a process that reads requests from its standard input and answers with messages on its standard
//! output, as hosts of plugins and workers of a test suite do.
//!
//! It leads a process group, which ends with it, and the last part of its standard error is kept, to be quoted when it dies.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::discovery::debugging;

/// How often a silent process is asked whether it still runs.
const TICK: Duration = Duration::from_millis(50);

/// How much of its standard error is kept, in bytes.
const LAST_WORDS: usize = 4096;

/// How long to wait for the end of a dead process's standard error, which a process outside of its group may hold open.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(500);

/// Messages that are read before somebody takes them.
const MESSAGES_AHEAD: usize = 16;

/// A running process whose messages are each an `M`. Dropping it ends its process group.
#[derive(Debug)]
pub struct ChildProcess<M> {
    process: Child,
    reaped: bool,
    /// Standard input stays open as long as this lives.
    input: Sender<Vec<u8>>,
    messages: Receiver<M>,
    last_words: Arc<Mutex<Vec<u8>>>,
    standard_error_ended: Receiver<()>,
}

/// The next event of a [`ChildProcess`].
#[derive(Debug)]
pub enum ChildEvent<M> {
    /// A message.
    Message(M),
    /// The process or its standard output has ended.
    Ended,
    /// The deadline has passed.
    Late,
    /// The caller asked to stop.
    Stopped,
}

/// How a [`ChildProcess`] ended.
#[derive(Debug)]
pub struct ChildEnd {
    /// Its exit status; `None` if it was killed.
    pub status: Option<ExitStatus>,
    /// The last part of what it wrote to standard error, without the space around it.
    pub last_words: String,
}

impl<M: Send + 'static> ChildProcess<M> {
    /// Starts a process; `read` takes the next message from its standard output, none at its end.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        mut command: Command,
        mut read: impl FnMut(&mut BufReader<ChildStdout>) -> Option<M> + Send + 'static,
    ) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut process = command.spawn()?;
        let (input, written) = mpsc::channel::<Vec<u8>>();
        if let Some(mut to) = process.stdin.take() {
            // Of its own thread, since a process that reads nothing would block the writer past any deadline. A process that is
            // gone is noticed by its silence.
            thread::spawn(move || written.iter().try_for_each(|bytes| to.write_all(&bytes).and_then(|()| to.flush())));
        }
        let (sender, messages) = mpsc::sync_channel(MESSAGES_AHEAD);
        if let Some(output) = process.stdout.take() {
            let mut output = BufReader::new(output);
            thread::spawn(move || while read(&mut output).is_some_and(|message| sender.send(message).is_ok()) {});
        }
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let (ends, standard_error_ended) = mpsc::channel();
        if let Some(stream) = process.stderr.take() {
            let kept = Arc::clone(&last_words);
            thread::spawn(move || {
                keep_last_words(stream, &kept);
                drop(ends);
            });
        }
        Ok(Self { process, reaped: false, input, messages, last_words, standard_error_ended })
    }

    /// Writes to its standard input, later if it does not read now.
    pub fn send(&self, bytes: Vec<u8>) {
        // Nobody takes them if its input is closed, and then it ends as well.
        let _ = self.input.send(bytes);
    }

    /// The next event, at the latest at `deadline` or soon after `stop` is set.
    pub fn next(&mut self, deadline: Instant, stop: &AtomicBool) -> ChildEvent<M> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return ChildEvent::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left.min(TICK)) {
                Ok(message) => return ChildEvent::Message(message),
                Err(RecvTimeoutError::Disconnected) => return ChildEvent::Ended,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return ChildEvent::Late,
                // Its descendants may hold the pipe open after it has ended.
                Err(RecvTimeoutError::Timeout) if self.has_ended() => {
                    return self.messages.recv_timeout(TICK).map_or(ChildEvent::Ended, ChildEvent::Message);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends the process and its descendants at once.
    pub fn kill(mut self) -> ChildEnd {
        let ended = self.has_ended();
        self.end(ended)
    }

    /// Ends the process and its descendants; a process that has closed its output may first exit within a short time.
    pub fn finish(mut self) -> ChildEnd {
        let patience = Instant::now() + 4 * TICK;
        while !self.has_ended() && Instant::now() < patience {
            thread::sleep(TICK / 10);
        }
        let ended = self.has_ended();
        self.end(ended)
    }

    fn end(&mut self, by_itself: bool) -> ChildEnd {
        let status = self.reap().filter(|_| by_itself);
        let _ = self.standard_error_ended.recv_timeout(LAST_WORDS_WAIT);
        let kept = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        ChildEnd { status, last_words: String::from_utf8_lossy(&kept).trim().to_owned() }
    }
}

impl<M> ChildProcess<M> {
    /// Whether the process has ended; it stays a zombie, so that its number stays its group's.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.pid().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
    }

    /// Ends the group and takes the status of the process.
    fn reap(&mut self) -> Option<ExitStatus> {
        if let Some(pid) = self.pid() {
            // An error means that nobody is left to end.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        self.reaped = true;
        self.process.wait().ok()
    }
}

impl<M> Drop for ChildProcess<M> {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.reap();
        }
    }
}

/// Reads standard error to its end and keeps its last part.
fn keep_last_words(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let pass_on = debugging();
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
        drop(kept);
        if pass_on {
            let _ = io::stderr().write_all(&chunk[..count]);
        }
    }
}
