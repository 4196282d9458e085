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
use super::failure::{ErrorCode, PluginFailure};
use super::frame::{self, Answer, Part, Request};
use super::library::Library;
use super::listener::{self, Listener, LogLevel};
use super::load_error::LoadError;

/// The library could not be loaded; the chain is the whole message. Between hosts only: no plugin
/// may use it.
pub(super) const LOAD_FAILED: ErrorCode = ErrorCode(u32::MAX);

/// Serves a plugin's library over standard input and output until the input ends; what
/// `tilewright plugin-host` does.
///
/// Takes both streams for itself: from now on, what the plugin reads from standard input is empty,
/// and what it prints to standard output goes to standard error.
///
/// # Errors
/// Streams that cannot be taken over or break. A library that cannot be loaded is the answer to
/// every call.
pub fn serve(library: &Path) -> io::Result<()> {
    let (input, output) = take_standard_streams()?;
    serve_streams(library, input, output)
}

/// Serves a plugin's library over the given streams until the input ends. Where the input ends
/// while a call runs that outlasts its own limit, the process ends at once.
///
/// # Errors
/// Streams that break.
pub fn serve_streams(
    library: &Path,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let answers = Arc::new(Answers { output: Mutex::new(Box::new(output)), current: AtomicU64::new(0) });
    listener::listen(Box::new(Forward(Arc::clone(&answers))));
    let opened = Library::open(library);
    let finished = Arc::new(AtomicBool::new(false));
    let pending = read_requests(input, Arc::clone(&finished));
    let outcome = answer_all(&opened, pending, &answers);
    finished.store(true, Ordering::Release);
    outcome
}

/// Reads requests in a thread of its own, which notices that the host is gone while a call runs.
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
        // The host is gone. Whatever still runs after its limit would run for nobody.
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
        let part = match opened {
            Ok(library) => library.call(request.call).map_or_else(Part::Failed, Part::Done),
            Err(error) => Part::Failed(PluginFailure::new(LOAD_FAILED, [error.to_string()])),
        };
        answers.send(request.id, part)?;
    }
    Ok(())
}

/// The way back to the host.
struct Answers {
    output: Mutex<Box<dyn Write + Send>>,
    current: AtomicU64,
}

impl Answers {
    fn send(&self, id: u64, part: Part) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *output, &Answer { id, part })
    }
}

/// Sends what the plugin says to the host, as parts of the answer to the call that runs.
struct Forward(Arc<Answers>);

impl Listener for Forward {
    fn log(&self, level: LogLevel, message: &str) {
        let part = Part::Log { level: level.0, message: message.to_owned() };
        // Where the pipe is broken, the answer itself will say so.
        let _ = self.0.send(self.0.current.load(Ordering::Relaxed), part);
    }

    fn progress(&self, done: u64, total: u64, what: &str) {
        let part = Part::Progress { done, total, what: what.to_owned() };
        let _ = self.0.send(self.0.current.load(Ordering::Relaxed), part);
    }
}

/// Moves standard input and output to descriptors of our own, and leaves the plugin `/dev/null`
/// and standard error in their places.
#[allow(unsafe_code)]
fn take_standard_streams() -> io::Result<(File, File)> {
    use std::os::fd::{AsFd, AsRawFd, RawFd};
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::open("/dev/null")?;
    let replace = |from: RawFd, place: RawFd| {
        // SAFETY: `dup2` takes any two numbers; both are open, and nobody in this process owns
        // descriptors 0 and 1 but the standard streams, which stay usable.
        match unsafe { libc::dup2(from, place) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    replace(nothing.as_raw_fd(), io::stdin().as_raw_fd())?;
    replace(io::stderr().as_raw_fd(), io::stdout().as_raw_fd())?;
    Ok((input, output))
}

/// Ends the process without running exit handlers: the plugin's may wait for the thread that hangs.
#[allow(unsafe_code)]
fn end_at_once() -> ! {
    // SAFETY: ends the process; there is nothing after it.
    unsafe { libc::_exit(0) }
}
