//! Logs and progress: what plugins say while they work.
//!
//! In a host, [`listen`] says where they go, and [`listening`] where they go during one call; in a plugin, [`log`] and
//! [`progress`] send them to the host that asked.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::abi::{ABI_MAJOR, ABI_MINOR, HostTable, Slice};
use super::bytes::read_slice;

/// How much a message matters; unknown numbers count as [`LogLevel::DEBUG`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogLevel(pub u32);

impl LogLevel {
    /// Something failed.
    pub const ERROR: Self = Self(1);
    /// Something is suspicious.
    pub const WARNING: Self = Self(2);
    /// Something worth knowing.
    pub const INFO: Self = Self(3);
    /// For those who look for a fault.
    pub const DEBUG: Self = Self(4);
}

/// Takes what plugins say. Called from any thread.
pub trait Listener: Send + Sync {
    /// A message.
    fn log(&self, level: LogLevel, message: &str);

    /// So much of so much of what is done; a total of zero is unknown.
    fn progress(&self, done: u64, total: u64, what: &str);
}

static LISTENER: OnceLock<Box<dyn Listener>> = OnceLock::new();

/// Sends what plugins say to `listener` from now on. Without one, warnings and errors go to
/// standard error. Only the first call has an effect; the result says whether this was it.
pub fn listen(listener: Box<dyn Listener>) -> bool {
    LISTENER.set(listener).is_ok()
}

thread_local! {
    /// Who listens to what is said on this thread; the last one hears it.
    static NEAREST: RefCell<Vec<Arc<dyn Listener>>> = const { RefCell::new(Vec::new()) };
}

/// Works while `listener` hears what plugins say on this thread, instead of the one of the process. What a plugin says from
/// a thread of its own goes to the latter.
pub fn listening<Answer>(listener: Arc<dyn Listener>, work: impl FnOnce() -> Answer) -> Answer {
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

/// Who hears what is said on this thread alone.
fn nearest() -> Option<Arc<dyn Listener>> {
    NEAREST.with_borrow(|listeners| listeners.last().cloned())
}

/// The host that asked for this image's table; null in a host's own image.
static HOST: AtomicPtr<HostTable> = AtomicPtr::new(std::ptr::null_mut());

/// Keeps the host's table; the first host of a process stays.
pub(super) fn keep_host(host: *const HostTable) {
    let _ = HOST.compare_exchange(std::ptr::null_mut(), host.cast_mut(), Ordering::AcqRel, Ordering::Acquire);
}

/// Says something to the host.
pub fn log(level: LogLevel, message: &str) {
    match host() {
        Some(HostTable { context, log: Some(log), .. }) => {
            // SAFETY: the host's table promises that its slots take these arguments from any thread.
            #[allow(unsafe_code)]
            unsafe {
                log(*context, level.0, Slice::of(message.as_bytes()));
            }
        }
        Some(_) => {}
        None => deliver_log(level, message),
    }
}

/// Tells the host how far a long call is.
pub fn progress(done: u64, total: u64, what: &str) {
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
    // SAFETY: null, or a host's table, which lives until the process ends; `query` has checked
    // that `struct_size` covers all of it.
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

/// The table that this image gives to plugins as their host.
pub(super) static HOST_TABLE: HostTable = HostTable {
    struct_size: size_of::<HostTable>(),
    extensions: std::ptr::null(),
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    context: std::ptr::null_mut(),
    log: Some(host_log),
    progress: Some(host_progress),
};

/// A plugin's text; what cannot be read is said so rather than dropped.
fn text(slice: Slice) -> String {
    match read_slice(slice) {
        Ok(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Err(failure) => format!("(a message that cannot be read: {failure})"),
    }
}

/// A listener's panic stays on the host's side.
fn contained(work: impl FnOnce()) {
    let _: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(work));
}

#[allow(unsafe_code)]
unsafe extern "C" fn host_log(_: *mut c_void, level: u32, message: Slice) {
    contained(|| deliver_log(LogLevel(level), &text(message)));
}

#[allow(unsafe_code)]
unsafe extern "C" fn host_progress(_: *mut c_void, done: u64, total: u64, what: Slice) {
    contained(|| deliver_progress(done, total, &text(what)));
}
