//! Log messages and progress reports of plugins.
//!
//! In a host, [`set_plugin_message_listener`] sets the receiver for the whole process and [`with_listener`] the
//! receiver during one closure; in a plugin, [`log`] and [`progress`] send to the host.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::abi::{ABI_MAJOR, ABI_MINOR, HostTable, Slice};
use super::bytes::lossy_text;

/// Severity of a log message, a number. A host treats numbers that it does not know as [`LogLevel::DEBUG`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogLevel(pub u32);

impl LogLevel {
    /// Level of messages about something that failed.
    pub const ERROR: Self = Self(1);
    /// Level of messages about something suspicious.
    pub const WARNING: Self = Self(2);
    /// Level of messages about something noteworthy.
    pub const INFO: Self = Self(3);
    /// Level of messages with details for debugging.
    pub const DEBUG: Self = Self(4);
}

/// Receiver of log messages and progress reports of plugins. Any thread may call it.
pub trait PluginMessageListener: Send + Sync {
    /// Receives a log message.
    fn log(&self, level: LogLevel, message: &str);

    /// Receives the progress of a long call: `done` of `total` items are finished, and `what` names the items. A
    /// `total` of zero means unknown.
    fn progress(&self, done: u64, total: u64, what: &str);
}

static LISTENER: OnceLock<Box<dyn PluginMessageListener>> = OnceLock::new();

/// Sends messages of plugins to `listener` from now on. Without a listener, warnings and errors go to standard error.
/// Only the first call sets the listener; returns whether this call did.
pub fn set_plugin_message_listener(listener: Box<dyn PluginMessageListener>) -> bool {
    LISTENER.set(listener).is_ok()
}

thread_local! {
    /// The listeners that this thread has set, innermost last; the innermost one receives the messages.
    static NEAREST: RefCell<Vec<Arc<dyn PluginMessageListener>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` while `listener` receives the messages of plugins on this thread, instead of the listener of the
/// process. Messages from a plugin's own threads go to the listener of the process.
pub fn with_listener<Answer>(listener: Arc<dyn PluginMessageListener>, work: impl FnOnce() -> Answer) -> Answer {
    struct Listening;
    impl Drop for Listening {
        fn drop(&mut self) {
            NEAREST.with_borrow_mut(Vec::pop);
        }
    }
    NEAREST.with_borrow_mut(|listeners| listeners.push(listener));
    let _until_the_end = Listening;
    work()
}

/// Returns the innermost listener of this thread; `None` if it has set none.
fn nearest() -> Option<Arc<dyn PluginMessageListener>> {
    NEAREST.with_borrow(|listeners| listeners.last().cloned())
}

/// The table of the host that loaded this library as a plugin; null in the host itself.
static HOST: AtomicPtr<HostTable> = AtomicPtr::new(std::ptr::null_mut());

/// Stores the host's table; later calls have no effect.
pub(super) fn keep_host(host: *const HostTable) {
    let _ = HOST.compare_exchange(std::ptr::null_mut(), host.cast_mut(), Ordering::AcqRel, Ordering::Acquire);
}

/// Sends a log message to the host.
pub fn log(level: LogLevel, message: &str) {
    match host() {
        Some(HostTable { context, log: Some(log), .. }) => {
            // SAFETY: the host's contract allows these arguments from any thread.
            #[allow(unsafe_code)]
            unsafe {
                log(*context, level.0, Slice::of(message.as_bytes()));
            }
        }
        Some(_) => {}
        None => deliver_log(level, message),
    }
}

/// Reports the progress of a long call to the host: `done` of `total` items are finished, and `what` names the items. A
/// `total` of zero means unknown.
pub fn report_progress(done: u64, total: u64, what: &str) {
    match host() {
        Some(HostTable { context, progress: Some(progress), .. }) => {
            // SAFETY: as in `log`.
            #[allow(unsafe_code)]
            unsafe {
                progress(*context, done, total, Slice::of(what.as_bytes()));
            }
        }
        Some(_) => {}
        None => deliver_progress(done, total, what),
    }
}

fn host() -> Option<&'static HostTable> {
    let host = HOST.load(Ordering::Acquire);
    // SAFETY: null, or a host's table, which lives until the process ends; `query` has checked that `struct_size`
    // covers all of it.
    #[allow(unsafe_code)]
    unsafe {
        host.as_ref()
    }
}

pub(super) fn deliver_log(level: LogLevel, message: &str) {
    if let Some(listener) = nearest() {
        return listener.log(level, message);
    }
    match LISTENER.get() {
        Some(listener) => listener.log(level, message),
        None if level <= LogLevel::WARNING => eprintln!("{message}"),
        None => {}
    }
}

pub(super) fn deliver_progress(done: u64, total: u64, what: &str) {
    if let Some(listener) = nearest() {
        return listener.progress(done, total, what);
    }
    if let Some(listener) = LISTENER.get() {
        listener.progress(done, total, what);
    }
}

/// The table of functions that this program or library passes to plugins as their host.
pub(super) static HOST_TABLE: HostTable = HostTable {
    struct_size: size_of::<HostTable>(),
    extensions: std::ptr::null(),
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    context: std::ptr::null_mut(),
    log: Some(host_log),
    progress: Some(host_progress),
};

/// Runs `work` and catches a panic of a listener, so that it does not unwind into the plugin.
fn contained(work: impl FnOnce()) {
    let _: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(work));
}

#[allow(unsafe_code)]
unsafe extern "C" fn host_log(_: *mut c_void, level: u32, message: Slice) {
    contained(|| deliver_log(LogLevel(level), &lossy_text(message)));
}

#[allow(unsafe_code)]
unsafe extern "C" fn host_progress(_: *mut c_void, done: u64, total: u64, what: Slice) {
    contained(|| deliver_progress(done, total, &lossy_text(what)));
}
