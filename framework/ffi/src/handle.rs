//! Values that the caller gets: texts and handles, and how handles are freed.

use std::any::Any;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A text for C: what stands before the first zero byte.
pub(crate) fn text(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(end);
        CString::new(bytes).unwrap_or_default()
    })
}

/// A handle for the caller.
pub(crate) fn handle<Made>(made: Made) -> *mut Made {
    Box::into_raw(Box::new(made))
}

/// Frees a handle.
///
/// # Safety
/// `handle` is null, or came from [`handle`] and is not used any more.
pub(crate) unsafe fn destroy<Made>(handle: *mut Made) {
    if !handle.is_null() {
        // SAFETY: as the caller promises. Dropping what is here does not panic; if it did, the caller would not see it.
        let made = unsafe { Box::from_raw(handle) };
        let _: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(|| drop(made)));
    }
}
