//! Diagnostics during a call: messages of plugins, and reports of rejected plugins.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use tilewright_plugin::{LogLevel, PluginMessageListener, with_listener};

use crate::handle::text;

/// Severity of a diagnostic: a failure.
pub const TW_SEVERITY_ERROR: u32 = 1;
/// Severity of a diagnostic: a suspicious condition.
pub const TW_SEVERITY_WARNING: u32 = 2;
/// Severity of a diagnostic: useful information.
pub const TW_SEVERITY_INFO: u32 = 3;
/// Severity of a diagnostic: details for debugging.
pub const TW_SEVERITY_DEBUG: u32 = 4;

/// A diagnostic message.
#[repr(C)]
pub struct tw_diagnostic {
    /// The size of this struct; fields beyond it are absent.
    pub struct_size: usize,
    /// The severity, one of `TW_SEVERITY_...`; treat unknown numbers like the last.
    pub severity: u32,
    /// The text of the message; lives as long as the call.
    pub message: *const c_char,
}

/// A function that receives diagnostics. It is called on the calling thread before the call returns; it must return,
/// and may not call into the `tw_session` that it serves.
pub type tw_diagnostic_callback = Option<extern "C" fn(context: *mut c_void, diagnostic: *const tw_diagnostic)>;

/// The destination of a session's diagnostics: a callback and its context.
pub(crate) struct Diagnostics {
    callback: extern "C" fn(*mut c_void, *const tw_diagnostic),
    context: *mut c_void,
}

// SAFETY: the context belongs to the caller, who promises that the callback may receive it on any thread that calls.
unsafe impl Send for Diagnostics {}
// SAFETY: the callback may receive the context on several threads at once, as the caller promises.
unsafe impl Sync for Diagnostics {}

impl Diagnostics {
    /// Makes the diagnostics for a callback; `None` for a null callback.
    pub(crate) fn new(callback: tw_diagnostic_callback, context: *mut c_void) -> Option<Arc<Self>> {
        callback.map(|callback| Arc::new(Self { callback, context }))
    }

    /// Sends a message with this severity to the callback.
    pub(crate) fn say(&self, severity: u32, message: &str) {
        let message = text(message);
        let diagnostic = tw_diagnostic { struct_size: size_of::<tw_diagnostic>(), severity, message: message.as_ptr() };
        (self.callback)(self.context, &raw const diagnostic);
    }
}

impl PluginMessageListener for Diagnostics {
    fn log(&self, level: LogLevel, message: &str) {
        self.say(level.0, message);
    }

    fn progress(&self, _: u64, _: u64, _: &str) {}
}

/// Runs `work` with plugin messages directed to the diagnostics of a `tw_session`. Without diagnostics they are
/// dropped, since a library does not print.
pub(crate) fn with_diagnostics<Answer>(
    diagnostics: Option<&Arc<Diagnostics>>,
    work: impl FnOnce() -> Answer,
) -> Answer {
    match diagnostics {
        Some(diagnostics) => with_listener(diagnostics.clone(), work),
        None => with_listener(Arc::new(Silence), work),
    }
}

struct Silence;

impl PluginMessageListener for Silence {
    fn log(&self, _: LogLevel, _: &str) {}

    fn progress(&self, _: u64, _: u64, _: &str) {}
}
