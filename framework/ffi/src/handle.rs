//! Values for the caller: texts and handles, and how handles are freed.

use std::any::Any;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Converts text to a C string, up to the text's first zero byte.
pub(crate) fn text(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(end);
        CString::new(bytes).unwrap_or_default()
    })
}

/// Moves a value into a handle for the caller.
pub(crate) fn handle<Object>(object: Object) -> *mut Object {
    Box::into_raw(Box::new(object))
}

/// Frees a handle.
///
/// # Safety
/// `handle` is null, or came from [`handle`] and is not used any more.
pub(crate) unsafe fn destroy<Object>(handle: *mut Object) {
    if !handle.is_null() {
        // SAFETY: as the caller promises. Dropping what is here does not panic; if it did, the caller would not see it.
        let object = unsafe { Box::from_raw(handle) };
        let _: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}
