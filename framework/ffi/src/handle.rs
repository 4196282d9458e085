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

/// Moves a value to the heap and returns its address, the handle that the caller gets.
pub(crate) fn handle<Object>(object: Object) -> *mut Object {
    Box::into_raw(Box::new(object))
}

/// Frees a handle.
///
/// # Safety
/// `handle` is null, or came from [`handle`] and is not used any more.
pub(crate) unsafe fn destroy<Object>(handle: *mut Object) {
    if !handle.is_null() {
        // SAFETY: the caller promises that the handle came from [`handle`] and that nothing else uses it. Dropping the
        // values of this crate does not panic; a panic would be caught and ignored.
        let object = unsafe { Box::from_raw(handle) };
        let _: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}
