//! A plugin in a process of its own: survives its aborts and hangs.
//!
//! One process serves one library, one call at a time. A call that takes too long, or that ends
//! the process, is answered by an error that says so, and the next call starts a new process.
//! Each call starts one at most; a process that ends before it answers anything counts as a failed
//! start, and after a few of those in a row no more are started.

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
use super::failure::PluginFailure;
use super::frame::{self, Answer, Part, Request};
use super::library::Library;
use super::listener::{self, LogLevel};

/// After this many processes in a row that answered nothing, no more are started.
const MOST_FAILED_STARTS: u32 = 3;

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
    /// The library in this process, if its manifest lets hosts read its tables without another one.
    tables: Option<Library>,
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
    process: ChildProcess<io::Result<Answer>>,
    /// The targets that this process has made.
    made: BTreeSet<u64>,
    /// The sets of devices that it has opened; they end with it.
    devices: BTreeSet<u64>,
    answered: bool,
}

impl Isolated {
    /// Starts nothing until the first call; with `tables`, until the first that compiles or reaches a device.
    pub(super) fn new(command: HostCommand, file: PathBuf, limit: Duration, tables: Option<Library>) -> Self {
        Self { command, file, limit, tables, state: Mutex::default() }
    }

    fn start(&self) -> Result<Running, PluginFailure> {
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.args).arg(&self.file);
        let process = ChildProcess::start(command, |output| frame::read(output).transpose()).map_err(|error| {
            PluginFailure::internal(format!(
                "the process that was to serve it, {}, cannot be started: {error}",
                self.command.program.display()
            ))
        })?;
        Ok(Running { process, made: BTreeSet::new(), devices: BTreeSet::new(), answered: false })
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
    fn explain(&self, running: Running, call: &Call, broken: &Broken) -> PluginFailure {
        let end = match broken {
            Broken::TimedOut => running.process.kill(),
            Broken::Ended(_) => running.process.finish(),
        };
        let said =
            if end.last_words.is_empty() { String::new() } else { format!("; it last said: {}", end.last_words) };
        let doing = call.doing();
        PluginFailure::internal(match broken {
            Broken::TimedOut => format!(
                "gave no answer within {:?} while {doing} and was ended; raise the limit if it needs longer, or \
                 report it to the plugin's author{said}",
                self.limit
            ),
            Broken::Ended(how) => format!(
                "its process {} while {doing}; report this with its input to the plugin's author{said}",
                end.status.map_or_else(|| how.clone(), ended)
            ),
        })
    }
}

impl Running {
    /// Sends a request and reads its answer up to the end record; the error says how that went wrong.
    fn exchange(&mut self, request: &Request, limit: Duration) -> Result<Result<Vec<u8>, PluginFailure>, Broken> {
        let broken = |how: String| Err(Broken::Ended(how));
        let deadline = Instant::now() + limit;
        let mut bytes = Vec::new();
        if let Err(error) = frame::write(&mut bytes, request) {
            return broken(format!("took no request ({error})"));
        }
        self.process.send(bytes);
        loop {
            let answer = match self.process.next(deadline, &AtomicBool::new(false)) {
                ChildEvent::Message(Ok(answer)) => answer,
                ChildEvent::Message(Err(error)) => return broken(format!("answered nonsense ({error})")),
                ChildEvent::Ended | ChildEvent::Stopped => return broken("ended".to_owned()),
                ChildEvent::Late => return Err(Broken::TimedOut),
            };
            if answer.id != request.id {
                return broken(format!("answered call {} when {} was asked", answer.id, request.id));
            }
            match answer.part {
                Part::Log { level, message } => listener::deliver_log(LogLevel(level), &message),
                Part::Progress { done, total, what } => listener::deliver_progress(done, total, &what),
                Part::Done(bytes) => return Ok(Ok(bytes)),
                Part::Failed(failure) => return Ok(Err(failure)),
            }
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

impl Channel for Isolated {
    fn file(&self) -> &Path {
        &self.file
    }

    fn call(&self, call: Call) -> Result<Vec<u8>, PluginFailure> {
        let Some(tables) = self.tables.as_ref().filter(|_| call.reads_tables()) else { return self.call_apart(call) };
        let answer = tables.call(call.clone())?;
        match call {
            // A process that is started later makes the target again from its description.
            Call::Create { target, description } => drop(self.state().descriptions.insert(target, description)),
            Call::Destroy { .. } => drop(self.call_apart(call)?),
            _ => {}
        }
        Ok(answer)
    }
}

impl Isolated {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call of the process.
    fn call_apart(&self, call: Call) -> Result<Vec<u8>, PluginFailure> {
        let mut state = self.state();
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
