//! [`ChildProcess`]: a process that reads requests from its standard input and answers with messages on its standard
//! output, such as a plugin host or a worker of a test suite.
//!
//! The child leads a process group, and killing the child kills the group. The last part of the child's standard error
//! is kept for the message about its end.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::discovery::debugging;

/// Interval at which a child that sends no message is checked for having exited.
const TICK: Duration = Duration::from_millis(50);

/// Max bytes kept of the end of the child's standard error.
const STDERR_TAIL_BYTES: usize = 4096;

/// Timeout for reading the rest of an ended child's standard error, which a process outside its group may hold open.
const STDERR_WAIT: Duration = Duration::from_millis(500);

/// Max messages from the child that are buffered until the caller takes them.
const MAX_QUEUED_MESSAGES: usize = 16;

/// A running process whose messages are of type `M`. Dropping it kills its process group.
#[derive(Debug)]
pub struct ChildProcess<M> {
    process: Child,
    reaped: bool,
    /// Sender of bytes to the child's standard input, which stays open as long as this field exists.
    input: Sender<Vec<u8>>,
    messages: Receiver<M>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    standard_error_eof: Receiver<()>,
}

/// The next event of a [`ChildProcess`].
#[derive(Debug)]
pub enum ChildEvent<M> {
    /// A message that the child sent.
    Message(M),
    /// The child or its standard output has ended.
    Exited,
    /// The deadline has passed.
    TimedOut,
    /// The caller set `stop`.
    Stopped,
}

/// The exit status and last output of a [`ChildProcess`].
#[derive(Debug)]
pub struct ChildExit {
    /// The exit status with which the child ended; `None` if it was killed.
    pub status: Option<ExitStatus>,
    /// The last part of the child's standard error, trimmed.
    pub stderr_tail: String,
}

impl<M: Send + 'static> ChildProcess<M> {
    /// Starts a child process. `read` takes the next message from the child's standard output and returns `None` at its
    /// end.
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
            // A separate thread writes, since a child that does not read would block its writer beyond any deadline.
            // Errors of writing are dropped: [`Self::next_event`] reports a child that has ended.
            thread::spawn(move || written.iter().try_for_each(|bytes| to.write_all(&bytes).and_then(|()| to.flush())));
        }
        let (sender, messages) = mpsc::sync_channel(MAX_QUEUED_MESSAGES);
        if let Some(output) = process.stdout.take() {
            let mut output = BufReader::new(output);
            thread::spawn(move || while read(&mut output).is_some_and(|message| sender.send(message).is_ok()) {});
        }
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let (ends, standard_error_eof) = mpsc::channel();
        if let Some(stream) = process.stderr.take() {
            let kept = Arc::clone(&stderr_tail);
            thread::spawn(move || {
                keep_stderr_tail(stream, &kept);
                drop(ends);
            });
        }
        Ok(Self { process, reaped: false, input, messages, stderr_tail, standard_error_eof })
    }

    /// Queues bytes for the child's standard input; returns immediately, even if the child does not read now.
    pub fn send(&self, bytes: Vec<u8>) {
        // If the child has closed its input, the bytes are dropped; [`Self::next_event`] reports its end.
        let _ = self.input.send(bytes);
    }

    /// Waits until the child sends a message or ends, until `deadline`, or until shortly after `stop` is set; returns
    /// the first of these events.
    pub fn next_event(&mut self, deadline: Instant, stop: &AtomicBool) -> ChildEvent<M> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return ChildEvent::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left.min(TICK)) {
                Ok(message) => return ChildEvent::Message(message),
                Err(RecvTimeoutError::Disconnected) => return ChildEvent::Exited,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return ChildEvent::TimedOut,
                // Descendants of a child that has ended may hold its output open, so the child's own end is checked
                // too.
                Err(RecvTimeoutError::Timeout) if self.has_exited() => {
                    return self.messages.recv_timeout(TICK).map_or(ChildEvent::Exited, ChildEvent::Message);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Kills the child and its descendants immediately; returns the child's end, with a status only if it had exited
    /// before.
    pub fn kill(mut self) -> ChildExit {
        let exited = self.has_exited();
        self.end(exited)
    }

    /// Waits up to 200 ms for the child to exit, so that its status is known; then kills the rest of its process group.
    pub fn finish(mut self) -> ChildExit {
        let patience = Instant::now() + 4 * TICK;
        while !self.has_exited() && Instant::now() < patience {
            thread::sleep(TICK / 10);
        }
        let exited = self.has_exited();
        self.end(exited)
    }

    fn end(&mut self, by_itself: bool) -> ChildExit {
        let status = self.reap().filter(|_| by_itself);
        let _ = self.standard_error_eof.recv_timeout(STDERR_WAIT);
        let kept = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        ChildExit { status, stderr_tail: String::from_utf8_lossy(&kept).trim().to_owned() }
    }
}

impl<M> ChildProcess<M> {
    /// Whether the child has exited. The child is not reaped here, so that its process id stays reserved as the id of
    /// its group.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.pid().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
    }

    /// Kills the child's process group and reaps the child; returns the child's exit status, `None` if it is not
    /// available.
    fn reap(&mut self) -> Option<ExitStatus> {
        if let Some(pid) = self.pid() {
            // An error means that no process is left.
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

/// Reads the child's standard error to its end and keeps its last [`STDERR_TAIL_BYTES`] bytes in `kept`.
fn keep_stderr_tail(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let pass_on = debugging();
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(STDERR_TAIL_BYTES);
        kept.drain(..surplus);
        drop(kept);
        if pass_on {
            let _ = io::stderr().write_all(&chunk[..count]);
        }
    }
}
