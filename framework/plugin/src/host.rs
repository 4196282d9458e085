//! The process that serves one plugin over a pipe.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::channel::Channel;
use super::failure::{ErrorCode, SerializedError};
use super::frame::{self, Answer, AnswerEvent, Request};
use super::library::Library;
use super::listener::{self, LogLevel, PluginMessageListener};
use super::load_error::LoadError;

/// Code of the error that the plugin's library could not be loaded; the chain is the whole message. Only hosts and
/// their child processes use it, never plugins.
pub(super) const LOAD_FAILED: ErrorCode = ErrorCode(u32::MAX);

/// Serves a plugin's library over standard input and output until the input ends: the implementation of `tilewright
/// plugin-host`.
///
/// Takes over both streams: from then on, the plugin's standard input is empty, and what it prints goes to standard
/// error.
///
/// # Errors
/// A stream cannot be duplicated, read or written. If the library cannot be loaded, every call is answered with that
/// error.
pub fn serve_plugin(library: &Path) -> io::Result<()> {
    let (input, output) = take_standard_streams()?;
    serve_plugin_on_streams(library, input, output)
}

/// Serves a plugin's library over the given streams until the input ends. If the input ends during a call that exceeds
/// its own timeout, the process exits immediately.
///
/// # Errors
/// A stream cannot be read or written.
pub fn serve_plugin_on_streams(
    library: &Path,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let answers = Arc::new(Answers { output: Mutex::new(Box::new(output)), current: AtomicU64::new(0) });
    listener::set_plugin_message_listener(Box::new(Forward(Arc::clone(&answers))));
    let opened = Library::open(library);
    let finished = Arc::new(AtomicBool::new(false));
    let pending = read_requests(input, Arc::clone(&finished));
    let outcome = answer_all(&opened, pending, &answers);
    finished.store(true, Ordering::Release);
    outcome
}

/// Reads requests in a separate thread, which notices the end of the input while a call runs; if that call then exceeds
/// its timeout, the thread ends the process. `finished` is true when no call runs any more.
fn read_requests(mut input: impl Read + Send + 'static, finished: Arc<AtomicBool>) -> Receiver<io::Result<Request>> {
    let (requests, pending) = mpsc::channel();
    thread::spawn(move || {
        let mut limit = Duration::ZERO;
        loop {
            let request = match frame::read::<Request>(&mut input) {
                Ok(Some(request)) => Ok(request),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let failed = request.is_err();
            if let Ok(request) = &request {
                limit = Duration::from_millis(request.limit_ms);
            }
            if requests.send(request).is_err() || failed {
                break;
            }
        }
        drop(requests);
        // The host has closed the pipe, so no answer is needed; the running call still gets the rest of its time limit.
        thread::sleep(limit);
        if !finished.load(Ordering::Acquire) {
            end_at_once();
        }
    });
    pending
}

fn answer_all(
    opened: &Result<Library, LoadError>,
    pending: Receiver<io::Result<Request>>,
    answers: &Answers,
) -> io::Result<()> {
    for request in pending {
        let request = request?;
        answers.current.store(request.id, Ordering::Relaxed);
        let event = match opened {
            Ok(library) => library.call(request.call).map_or_else(AnswerEvent::Failed, AnswerEvent::Done),
            Err(error) => AnswerEvent::Failed(SerializedError::new(LOAD_FAILED, [error.to_string()])),
        };
        answers.send(request.id, event)?;
    }
    Ok(())
}

/// The output stream to the host, on which answers are written.
struct Answers {
    output: Mutex<Box<dyn Write + Send>>,
    current: AtomicU64,
}

impl Answers {
    fn send(&self, id: u64, event: AnswerEvent) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *output, &Answer { id, event })
    }
}

/// A listener that forwards the plugin's log messages and progress to the host, as parts of the answer to the running
/// call.
struct Forward(Arc<Answers>);

impl PluginMessageListener for Forward {
    fn log(&self, level: LogLevel, message: &str) {
        let event = AnswerEvent::Log { level: level.0, message: message.to_owned() };
        // If the pipe is broken, sending the answer itself fails too.
        let _ = self.0.send(self.0.current.load(Ordering::Relaxed), event);
    }

    fn progress(&self, done: u64, total: u64, what: &str) {
        let event = AnswerEvent::Progress { done, total, what: what.to_owned() };
        let _ = self.0.send(self.0.current.load(Ordering::Relaxed), event);
    }
}

/// Duplicates standard input and output to new file descriptors, and puts `/dev/null` and standard error in their place
/// for the plugin. Returns the new descriptors.
#[allow(unsafe_code)]
fn take_standard_streams() -> io::Result<(File, File)> {
    use std::os::fd::{AsFd, AsRawFd, RawFd};
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::open("/dev/null")?;
    let replace = |from: RawFd, target: RawFd| {
        // SAFETY: `dup2` accepts any two numbers; both are open, and descriptors 0 and 1 belong to the standard
        // streams, which stay usable.
        match unsafe { libc::dup2(from, target) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    replace(nothing.as_raw_fd(), io::stdin().as_raw_fd())?;
    replace(io::stderr().as_raw_fd(), io::stdout().as_raw_fd())?;
    Ok((input, output))
}

/// Exits the process without exit handlers, since the plugin's handlers may wait for the thread that hangs.
#[allow(unsafe_code)]
fn end_at_once() -> ! {
    // SAFETY: exits the process.
    unsafe { libc::_exit(0) }
}
