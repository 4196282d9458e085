//! A plugin served by a process of its own, so that the host survives aborts and hangs of the plugin.
//!
//! One process serves one library, one call at a time. A call that exceeds its timeout or ends the process gives an
//! error, and the next call starts a new process. Each call starts at most one process. A process that ends before its
//! first answer counts as a failed start; after [`MOST_FAILED_STARTS`] of them in a row no more are started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::channel::{Call, Channel};
use super::child_process::{ChildEvent, ChildProcess};
use super::failure::SerializedError;
use super::frame::{self, Answer, AnswerEvent, Request};
use super::library::Library;
use super::listener::{self, LogLevel};

/// Max failed starts in a row; afterwards no more processes are started.
const MOST_FAILED_STARTS: u32 = 3;

/// The command line that serves a plugin over its standard streams: a program and its arguments; the path of the
/// plugin's library is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginHostCommand {
    /// The path of the program.
    pub program: PathBuf,
    /// The program's arguments, before the library's path.
    pub args: Vec<OsString>,
}

impl PluginHostCommand {
    /// Returns the command line of a program and its arguments.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }
}

/// A plugin library that child processes serve.
pub(super) struct Isolated {
    command: PluginHostCommand,
    file: PathBuf,
    limit: Duration,
    /// The plugin's library, opened in this process, if its manifest allows reading families and instructions without a
    /// process for the plugin; else `None`.
    tables: Option<Library>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<Running>,
    failed_starts: u32,
    next_id: u64,
    /// The serialised descriptions of the live targets by the targets' numbers; a new process creates the targets again
    /// from them.
    descriptions: BTreeMap<u64, Vec<u8>>,
}

/// The reasons why a child process gave no answer.
enum Broken {
    TimedOut,
    Exited(String),
}

struct Running {
    process: ChildProcess<io::Result<Answer>>,
    /// The numbers of the targets that this process has created.
    created: BTreeSet<u64>,
    /// The numbers of the device sets that this process has opened; they end with the process.
    devices: BTreeSet<u64>,
    answered: bool,
}

impl Isolated {
    /// Creates the state without starting a process; the first call that needs the process starts it. If `tables` is
    /// the library, opened in this process, the families and instructions of targets are read from it, and only
    /// compilation and device calls need the process.
    pub(super) fn new(command: PluginHostCommand, file: PathBuf, limit: Duration, tables: Option<Library>) -> Self {
        Self { command, file, limit, tables, state: Mutex::default() }
    }

    fn start(&self) -> Result<Running, SerializedError> {
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.args).arg(&self.file);
        let process = ChildProcess::start(command, |output| frame::read(output).transpose()).map_err(|error| {
            SerializedError::internal(format!(
                "its server process {} cannot be started: {error}",
                self.command.program.display()
            ))
        })?;
        Ok(Running { process, created: BTreeSet::new(), devices: BTreeSet::new(), answered: false })
    }

    /// Makes one call on the child process; starts the process and creates the call's target again as needed.
    fn call_process(&self, state: &mut State, call: &Call) -> Result<Vec<u8>, SerializedError> {
        if state.running.is_none() {
            if state.failed_starts >= MOST_FAILED_STARTS {
                let message = format!(
                    "no longer started, since {MOST_FAILED_STARTS} server processes in a row ended before they \
                     answered; fix the cause and start again"
                );
                return Err(SerializedError::internal(message));
            }
            state.running = Some(self.start()?);
        }
        self.recreate_target(state, call)?;
        self.send_call(state, call)
    }

    fn recreate_target(&self, state: &mut State, call: &Call) -> Result<(), SerializedError> {
        let Some(target) = call.target() else { return Ok(()) };
        let created = state.running.as_ref().is_some_and(|running| running.created.contains(&target));
        let Some(description) = state.descriptions.get(&target).filter(|_| !created).cloned() else { return Ok(()) };
        self.send_call(state, &Call::Create { target, description }).map(|_| ())
    }

    /// Sends one call and waits for its answer; if no complete answer comes, ends the child process and returns an
    /// error.
    fn send_call(&self, state: &mut State, call: &Call) -> Result<Vec<u8>, SerializedError> {
        let Some(mut running) = state.running.take() else {
            return Err(SerializedError::internal("no process serves it"));
        };
        state.next_id += 1;
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        let request = Request { id: state.next_id, limit_ms, call: call.clone() };
        match running.send_request(&request, self.limit) {
            Ok(outcome) => {
                running.answered = true;
                state.failed_starts = 0;
                match (call, &outcome) {
                    (Call::Create { target, .. }, Ok(_)) => drop(running.created.insert(*target)),
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

    /// Returns the error for a child process that gave no answer.
    fn explain(&self, running: Running, call: &Call, broken: &Broken) -> SerializedError {
        let end = match broken {
            Broken::TimedOut => running.process.kill(),
            Broken::Exited(_) => running.process.finish(),
        };
        let stderr_tail_text =
            if end.stderr_tail.is_empty() { String::new() } else { format!("; its last output: {}", end.stderr_tail) };
        let doing = call.doing();
        SerializedError::internal(match broken {
            Broken::TimedOut => format!(
                "gave no answer within {:?} while {doing} and was ended; raise the limit if it needs longer, or \
                 report it to the plugin's author{stderr_tail_text}",
                self.limit
            ),
            Broken::Exited(how) => format!(
                "its process {} while {doing}; report this with its input to the plugin's author{stderr_tail_text}",
                end.status.map_or_else(|| how.clone(), describe_exit)
            ),
        })
    }
}

impl Running {
    /// Sends a request and reads the parts of its answer up to the last; returns the reason if no complete answer
    /// comes.
    fn send_request(&mut self, request: &Request, limit: Duration) -> Result<Result<Vec<u8>, SerializedError>, Broken> {
        let broken = |how: String| Err(Broken::Exited(how));
        let deadline = Instant::now() + limit;
        let mut bytes = Vec::new();
        if let Err(error) = frame::write(&mut bytes, request) {
            return broken(format!("took no request ({error})"));
        }
        self.process.send(bytes);
        loop {
            let answer = match self.process.next_event(deadline, &AtomicBool::new(false)) {
                ChildEvent::Message(Ok(answer)) => answer,
                ChildEvent::Message(Err(error)) => return broken(format!("returned an invalid answer ({error})")),
                ChildEvent::Exited | ChildEvent::Stopped => return broken("ended".to_owned()),
                ChildEvent::TimedOut => return Err(Broken::TimedOut),
            };
            if answer.id != request.id {
                return broken(format!("answered call {} instead of {}", answer.id, request.id));
            }
            match answer.event {
                AnswerEvent::Log { level, message } => listener::deliver_log(LogLevel(level), &message),
                AnswerEvent::Progress { done, total, what } => listener::deliver_progress(done, total, &what),
                AnswerEvent::Done(bytes) => return Ok(Ok(bytes)),
                AnswerEvent::Failed(failure) => return Ok(Err(failure)),
            }
        }
    }
}

fn describe_exit(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("was ended by signal {signal}{}", signal_name(signal)),
        None => format!("ended with status {}", status.code().unwrap_or_default()),
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

impl Channel for Isolated {
    fn file(&self) -> &Path {
        &self.file
    }

    fn call(&self, call: Call) -> Result<Vec<u8>, SerializedError> {
        let Some(tables) = self.tables.as_ref().filter(|_| call.reads_tables()) else {
            return self.call_in_process(call);
        };
        let answer = tables.call(call.clone())?;
        match call {
            // If the child process is replaced, the new one creates the target again from its description.
            Call::Create { target, description } => drop(self.state().descriptions.insert(target, description)),
            Call::Destroy { .. } => drop(self.call_in_process(call)?),
            _ => {}
        }
        Ok(answer)
    }
}

impl Isolated {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call on the child process; calls that only release something start no process.
    fn call_in_process(&self, call: Call) -> Result<Vec<u8>, SerializedError> {
        let mut state = self.state();
        match &call {
            Call::Destroy { target } => {
                state.descriptions.remove(target);
                let running = state.running.as_mut();
                // The process destroys the target only if it runs and has created the target.
                if !running.is_some_and(|running| running.created.remove(target)) {
                    return Ok(Vec::new());
                }
                self.send_call(&mut state, &call)
            }
            Call::CloseDevices { devices } => {
                let running = state.running.as_mut();
                if !running.is_some_and(|running| running.devices.remove(devices)) {
                    return Ok(Vec::new());
                }
                self.send_call(&mut state, &call)
            }
            Call::Device { devices, .. } => {
                let running = state.running.as_ref();
                if !running.is_some_and(|running| running.devices.contains(devices)) {
                    return Err(SerializedError::internal("the process of these devices has ended; open them again"));
                }
                self.send_call(&mut state, &call)
            }
            Call::Create { target, description } => {
                let response = self.call_process(&mut state, &call)?;
                state.descriptions.insert(*target, description.clone());
                Ok(response)
            }
            _ => self.call_process(&mut state, &call),
        }
    }
}
