//! What crosses: pointers of the caller are checked, panics are caught.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, TW_ERROR_INTERNAL, tw_error};

/// Does the work of a function: an error becomes a handle, and so does a panic.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> *mut tw_error {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(panic) => {
            Failure::new(TW_ERROR_INTERNAL, format!("a fault of Tilewright, please report it: {}", said(&*panic)))
        }
    };
    failure.boxed()
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(without words)")
}

/// A handle that the caller passed as `name`.
///
/// # Safety
/// `handle` is null, or a handle that lives as long as the call.
pub(crate) unsafe fn borrowed<'a, Handle>(name: &str, handle: *const Handle) -> Result<&'a Handle, Failure> {
    // SAFETY: as the caller promises.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("`{name}` is null; give a handle")))
}

/// The place where the caller wants what is made.
///
/// # Safety
/// `out` is null, or may be written.
pub(crate) unsafe fn place<'a, Made>(out: *mut *mut Made) -> Result<&'a mut *mut Made, Failure> {
    // SAFETY: as the caller promises.
    unsafe { out.as_mut() }.ok_or_else(|| Failure::argument("`out` is null; give the address of a pointer"))
}

/// A text that the caller passed as `name`.
///
/// # Safety
/// `text` is null, or ends with a zero byte and lives as long as the call.
pub(crate) unsafe fn read_text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: as the caller promises.
    unsafe { read_optional_text(name, text) }?
        .ok_or_else(|| Failure::argument(format!("`{name}` is null; give a text")))
}

/// A text that may be left out.
///
/// # Safety
/// As of [`read_text`].
pub(crate) unsafe fn read_optional_text<'a>(name: &str, text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|error| Failure::argument(format!("`{name}` is no UTF-8: {error}")))
}

/// An array that the caller passed as `name`.
///
/// # Safety
/// `values` is null, or begins `count` values that live as long as the call.
pub(crate) unsafe fn read_array<'a, Value>(
    name: &str,
    values: *const Value,
    count: usize,
) -> Result<&'a [Value], Failure> {
    match (values.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument(format!("`{name}` is null, and {count} values are said to be there"))),
        // SAFETY: as the caller promises.
        _ => Ok(unsafe { std::slice::from_raw_parts(values, count) }),
    }
}

/// Fills in a struct of the caller's, as much of it as its first field covers.
///
/// # Safety
/// `out` is null, or begins a struct of as many bytes as its first field says, which is a `usize`.
pub(crate) unsafe fn fill<Value: Copy>(name: &str, value: &Value, out: *mut Value) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::argument(format!("`{name}` is null; give the address of a struct")));
    }
    // SAFETY: the first field is the size, as the caller promises.
    let size = unsafe { out.cast::<usize>().read() };
    if size < size_of::<usize>() {
        return Err(Failure::argument(format!("`{name}->struct_size` is {size}; set it to the size of the struct")));
    }
    let rest = size.min(size_of::<Value>()) - size_of::<usize>();
    // SAFETY: both are `rest` bytes long behind their first field.
    unsafe {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), out.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(size_of::<usize>()), to.add(size_of::<usize>()), rest);
    }
    Ok(())
}
