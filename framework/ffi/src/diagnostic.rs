//! What is said while a call works: by plugins, and about what was passed over.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use tilewright_plugin::{Listener, LogLevel, listening};

use crate::handle::text;

/// Something failed.
pub const TW_SEVERITY_ERROR: u32 = 1;
/// Something is suspicious.
pub const TW_SEVERITY_WARNING: u32 = 2;
/// Something worth knowing.
pub const TW_SEVERITY_INFO: u32 = 3;
/// For those who look for a fault.
pub const TW_SEVERITY_DEBUG: u32 = 4;

/// Something that is said.
#[repr(C)]
pub struct tw_diagnostic {
    /// The size of this struct; fields behind it are not there.
    pub struct_size: usize,
    /// One of `TW_SEVERITY_...`; unknown numbers count as the last.
    pub severity: u32,
    /// What is said; lives as long as the call.
    pub message: *const c_char,
}

/// Takes what is said. It is called by the thread that called, before that call returns; it must return, and may not call
/// the `tw_session` that it speaks for.
pub type tw_diagnostic_callback = Option<extern "C" fn(context: *mut c_void, diagnostic: *const tw_diagnostic)>;

/// Where a session's diagnostics go.
pub(crate) struct Diagnostics {
    callback: extern "C" fn(*mut c_void, *const tw_diagnostic),
    context: *mut c_void,
}

// SAFETY: the context is the caller's, who promises that the callback may get it from any thread that calls.
unsafe impl Send for Diagnostics {}
// SAFETY: as above.
unsafe impl Sync for Diagnostics {}

impl Diagnostics {
    /// Diagnostics for a callback, where there is one.
    pub(crate) fn new(callback: tw_diagnostic_callback, context: *mut c_void) -> Option<Arc<Self>> {
        callback.map(|callback| Arc::new(Self { callback, context }))
    }

    /// Says something.
    pub(crate) fn say(&self, severity: u32, message: &str) {
        let message = text(message);
        let said = tw_diagnostic { struct_size: size_of::<tw_diagnostic>(), severity, message: message.as_ptr() };
        (self.callback)(self.context, &raw const said);
    }
}

impl Listener for Diagnostics {
    fn log(&self, level: LogLevel, message: &str) {
        self.say(level.0, message);
    }

    fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// Works while what plugins say goes to the diagnostics of a `tw_session`; without them it goes nowhere, since a library does
/// not print.
pub(crate) fn heard<Answer>(diagnostics: Option<&Arc<Diagnostics>>, work: impl FnOnce() -> Answer) -> Answer {
    match diagnostics {
        Some(diagnostics) => listening(diagnostics.clone(), work),
        None => listening(Arc::new(Silence), work),
    }
}

struct Silence;

impl Listener for Silence {
    fn log(&self, _: LogLevel, _: &str) {}

    fn progress(&self, _: u64, _: u64, _: &str) {}
}
