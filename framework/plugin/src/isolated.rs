//! A plugin in a process of its own: survives its aborts and hangs.
//!
//! One process serves one library, one call at a time. A call that takes too long, or that ends
//! the process, is answered by an error that says so, and the next call starts a new process.
//! Each call starts one at most; a process that ends before it answers anything counts as a failed
//! start, and after a few of those in a row no more are started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::channel::{Call, Channel};
use super::discovery::debugging;
use super::failure::PluginFailure;
use super::frame::{self, Answer, Part, Request};
use super::listener::{self, LogLevel};

/// After this many processes in a row that answered nothing, no more are started.
const MOST_FAILED_STARTS: u32 = 3;

/// How much of what a process printed is kept for error messages, in bytes.
const LAST_WORDS: usize = 2048;

/// How long to wait for a dead process's last words.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(500);

/// The command that serves a plugin over its standard streams: the program and its arguments,
/// after which the library's path is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, before the library's path.
    pub args: Vec<OsString>,
}

impl HostCommand {
    /// The command of a program and its arguments.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }
}

/// A library served by other processes.
pub(super) struct Isolated {
    command: HostCommand,
    file: PathBuf,
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<Running>,
    failed_starts: u32,
    next_id: u64,
    /// The live targets by number, to be made again in a new process.
    descriptions: BTreeMap<u64, Vec<u8>>,
}

/// How an exchange with a process ended without an answer.
enum Broken {
    TimedOut,
    Ended(String),
}

struct Running {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_words: Receiver<String>,
    /// The targets that this process has made.
    made: BTreeSet<u64>,
    /// The sets of devices that it has opened; they end with it.
    devices: BTreeSet<u64>,
    answered: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only where the process has ended, and then `wait` collects it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Isolated {
    /// Starts nothing until the first call.
    pub(super) fn new(command: HostCommand, file: PathBuf, limit: Duration) -> Self {
        Self { command, file, limit, state: Mutex::default() }
    }

    fn start(&self) -> Result<Running, PluginFailure> {
        let failed = |error: std::io::Error| {
            PluginFailure::internal(format!(
                "the process that was to serve it, {}, cannot be started: {error}",
                self.command.program.display()
            ))
        };
        let piped = |what: &str| PluginFailure::internal(format!("the process that serves it has no {what}"));
        let mut process = Command::new(&self.command.program)
            .args(&self.command.args)
            .arg(&self.file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let input = process.stdin.take().ok_or_else(|| piped("standard input"))?;
        let output = process.stdout.take().ok_or_else(|| piped("standard output"))?;
        let last_words = keep_last_words(process.stderr.take().ok_or_else(|| piped("standard error"))?);
        let output = BufReader::new(output);
        Ok(Running {
            process,
            input,
            output,
            last_words,
            made: BTreeSet::new(),
            devices: BTreeSet::new(),
            answered: false,
        })
    }

    /// Makes one call of a running process, starting one and making the target again as needed.
    fn call_process(&self, state: &mut State, call: &Call) -> Result<Vec<u8>, PluginFailure> {
        if state.running.is_none() {
            if state.failed_starts >= MOST_FAILED_STARTS {
                let message = format!(
                    "not asked any more, since {MOST_FAILED_STARTS} processes in a row that were to serve it \
                     ended before they answered; mend the cause and start again"
                );
                return Err(PluginFailure::internal(message));
            }
            state.running = Some(self.start()?);
        }
        self.make_target_again(state, call)?;
        self.exchange(state, call)
    }

    fn make_target_again(&self, state: &mut State, call: &Call) -> Result<(), PluginFailure> {
        let Some(target) = call.target() else { return Ok(()) };
        let made = state.running.as_ref().is_some_and(|running| running.made.contains(&target));
        let Some(description) = state.descriptions.get(&target).filter(|_| !made).cloned() else { return Ok(()) };
        self.exchange(state, &Call::Create { target, description }).map(|_| ())
    }

    /// Sends one call and waits for its answer; a process that breaks is ended.
    fn exchange(&self, state: &mut State, call: &Call) -> Result<Vec<u8>, PluginFailure> {
        let Some(mut running) = state.running.take() else {
            return Err(PluginFailure::internal("no process serves it"));
        };
        state.next_id += 1;
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        let request = Request { id: state.next_id, limit_ms, call: call.clone() };
        match running.exchange(&request, self.limit) {
            Ok(outcome) => {
                running.answered = true;
                state.failed_starts = 0;
                match (call, &outcome) {
                    (Call::Create { target, .. }, Ok(_)) => drop(running.made.insert(*target)),
                    (Call::OpenDevices { devices, .. }, Ok(_)) => drop(running.devices.insert(*devices)),
                    _ => {}
                }
                state.running = Some(running);
                outcome
            }
            Err(broken) => {
                state.failed_starts += u32::from(!running.answered);
                Err(self.explain(running, call, &broken))
            }
        }
    }

    /// What happened to a process, in words.
    fn explain(&self, mut running: Running, call: &Call, broken: &Broken) -> PluginFailure {
        // A process that breaks the protocol may still run.
        let _ = running.process.kill();
        let status = running.process.wait().ok();
        let said = running.last_words.recv_timeout(LAST_WORDS_WAIT).unwrap_or_default();
        let said = if said.trim().is_empty() { String::new() } else { format!("; it last said: {}", said.trim()) };
        let doing = call.doing();
        PluginFailure::internal(match broken {
            Broken::TimedOut => format!(
                "gave no answer within {:?} while {doing} and was ended; raise the limit if it needs longer, or \
                 report it to the plugin's author{said}",
                self.limit
            ),
            Broken::Ended(how) => format!(
                "its process {} while {doing}; report this with its input to the plugin's author{said}",
                status.filter(|status| status.signal() != Some(libc::SIGKILL)).map_or_else(|| how.clone(), ended)
            ),
        })
    }
}

impl Running {
    /// Sends a request and reads its answer up to the end record. A watch ends the process when
    /// the limit has passed, which ends all waiting on its pipes.
    fn exchange(&mut self, request: &Request, limit: Duration) -> Result<Result<Vec<u8>, PluginFailure>, Broken> {
        let Self { process, input, output, .. } = self;
        let (done, watched) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let late = watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if late {
                    let _ = process.kill();
                }
                late
            });
            let answer = talk(request, input, output);
            drop(done);
            let late = watch.join().unwrap_or(false);
            answer.map_err(|how| if late { Broken::TimedOut } else { Broken::Ended(how) })
        })
    }
}

/// Sends a request and reads its answer up to the end record; the error says how the pipe broke.
fn talk(
    request: &Request,
    input: &mut impl Write,
    output: &mut impl Read,
) -> Result<Result<Vec<u8>, PluginFailure>, String> {
    frame::write(input, request).map_err(|error| format!("took no request ({error})"))?;
    loop {
        let answer: Answer = match frame::read(output) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err("ended".to_owned()),
            Err(error) => return Err(format!("answered nonsense ({error})")),
        };
        if answer.id != request.id {
            return Err(format!("answered call {} when {} was asked", answer.id, request.id));
        }
        match answer.part {
            Part::Log { level, message } => listener::deliver_log(LogLevel(level), &message),
            Part::Progress { done, total, what } => listener::deliver_progress(done, total, &what),
            Part::Done(bytes) => return Ok(Ok(bytes)),
            Part::Failed(failure) => return Ok(Err(failure)),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("was ended by signal {signal}{}", signal_name(signal)),
        None => format!("ended by itself with status {}", status.code().unwrap_or_default()),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGTERM => " (SIGTERM)",
        _ => "",
    }
}

/// Reads a process's standard error to its end and then gives the last of it.
fn keep_last_words(mut from: ChildStderr) -> Receiver<String> {
    let (give, last_words) = mpsc::channel();
    let pass_on = debugging();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..count]);
            kept.drain(..kept.len().saturating_sub(LAST_WORDS));
            if pass_on {
                let _ = std::io::stderr().write_all(&buffer[..count]);
            }
        }
        let _ = give.send(String::from_utf8_lossy(&kept).into_owned());
    });
    last_words
}

impl Channel for Isolated {
    fn file(&self) -> &Path {
        &self.file
    }

    fn call(&self, call: Call) -> Result<Vec<u8>, PluginFailure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &call {
            Call::Destroy { target } => {
                state.descriptions.remove(target);
                let running = state.running.as_mut();
                // Only for the target's own process; no process is started to end a target.
                if !running.is_some_and(|running| running.made.remove(target)) {
                    return Ok(Vec::new());
                }
                self.exchange(&mut state, &call)
            }
            Call::CloseDevices { devices } => {
                let running = state.running.as_mut();
                if !running.is_some_and(|running| running.devices.remove(devices)) {
                    return Ok(Vec::new());
                }
                self.exchange(&mut state, &call)
            }
            Call::Device { devices, .. } => {
                let running = state.running.as_ref();
                if !running.is_some_and(|running| running.devices.contains(devices)) {
                    return Err(PluginFailure::internal("the process of these devices has ended; open them again"));
                }
                self.exchange(&mut state, &call)
            }
            Call::Create { target, description } => {
                let made = self.call_process(&mut state, &call)?;
                state.descriptions.insert(*target, description.clone());
                Ok(made)
            }
            _ => self.call_process(&mut state, &call),
        }
    }
}
