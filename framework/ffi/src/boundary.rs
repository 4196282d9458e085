//! The boundary of the C interface: it checks the caller's pointers and catches panics.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, TW_ERROR_INTERNAL, tw_error};

/// Runs the body of an interface function; an error or a panic becomes an error handle, success becomes null.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> *mut tw_error {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(
            TW_ERROR_INTERNAL,
            format!("a defect of Tilewright, please report it: {}", panic_message(&*panic)),
        ),
    };
    failure.boxed()
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(without a message)")
}

/// Returns the handle that the caller passed as the parameter `name`; an error if it is null.
///
/// # Safety
/// `handle` is null, or a handle that lives as long as the call.
pub(crate) unsafe fn borrowed<'a, Handle>(name: &str, handle: *const Handle) -> Result<&'a Handle, Failure> {
    // SAFETY: the caller promises that `handle` is null or lives as long as the call.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("`{name}` is null; pass a handle")))
}

/// Returns the caller's location for a new handle; an error if it is null.
///
/// # Safety
/// `out` is null, or may be written.
pub(crate) unsafe fn out_pointer<'a, Object>(out: *mut *mut Object) -> Result<&'a mut *mut Object, Failure> {
    // SAFETY: the caller promises that `out` is null or may be written.
    unsafe { out.as_mut() }.ok_or_else(|| Failure::argument("`out` is null; pass the address of a pointer"))
}

/// Returns the text that the caller passed as the parameter `name`; an error if it is null or not UTF-8.
///
/// # Safety
/// `text` is null, or ends with a zero byte and lives as long as the call.
pub(crate) unsafe fn read_text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller promises that `text` is null or a C string that lives as long as the call.
    unsafe { read_optional_text(name, text) }?
        .ok_or_else(|| Failure::argument(format!("`{name}` is null; pass a string")))
}

/// Returns the text that the caller passed as the parameter `name`; `None` if it is null, an error if it is not UTF-8.
///
/// # Safety
/// As of [`read_text`].
pub(crate) unsafe fn read_optional_text<'a>(name: &str, text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: `text` is not null, and the caller promises a C string that lives as long as the call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|error| Failure::argument(format!("`{name}` is not UTF-8: {error}")))
}

/// Returns the array of `count` values that the caller passed as the parameter `name`; an error if it is null and
/// `count` is not zero.
///
/// # Safety
/// `values` is null, or points to `count` values that live as long as the call.
pub(crate) unsafe fn read_array<'a, Value>(
    name: &str,
    values: *const Value,
    count: usize,
) -> Result<&'a [Value], Failure> {
    match (values.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument(format!("`{name}` is null, but its count is {count}"))),
        // SAFETY: `values` is not null, and the caller promises that it points to `count` values.
        _ => Ok(unsafe { std::slice::from_raw_parts(values, count) }),
    }
}

/// Reads a struct of the caller, limited to the bytes that the struct's first field states; the other fields are zero.
///
/// # Safety
/// `given` is null, or points to a struct whose first field, a `usize`, is its size in bytes. Zero is a value of every
/// field.
pub(crate) unsafe fn read_struct<Value: Copy>(name: &str, given: *const Value) -> Result<Value, Failure> {
    if given.is_null() {
        return Err(Failure::argument(format!("`{name}` is null; pass the address of a struct")));
    }
    // SAFETY: the caller promises that the struct's first field is its size, a `usize`.
    let size = unsafe { given.cast::<usize>().read() };
    if size < size_of::<usize>() {
        return Err(Failure::argument(format!("`{name}->struct_size` is {size}; set it to the size of the struct")));
    }
    let mut value = std::mem::MaybeUninit::<Value>::zeroed();
    // SAFETY: both structs have as many bytes as are copied. All fields are initialized: copied from the caller, or
    // zero.
    unsafe {
        std::ptr::copy_nonoverlapping(
            given.cast::<u8>(),
            value.as_mut_ptr().cast::<u8>(),
            size.min(size_of::<Value>()),
        );
        Ok(value.assume_init())
    }
}

/// Fills a struct of the caller with `value`, limited to the number of bytes in the struct's first field, which stays
/// as it is.
///
/// # Safety
/// `out` is null, or points to a struct whose first field, a `usize`, is its size in bytes.
pub(crate) unsafe fn fill<Value: Copy>(name: &str, value: &Value, out: *mut Value) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::argument(format!("`{name}` is null; pass the address of a struct")));
    }
    // SAFETY: the caller promises that the struct's first field is its size, a `usize`.
    let size = unsafe { out.cast::<usize>().read() };
    if size < size_of::<usize>() {
        return Err(Failure::argument(format!("`{name}->struct_size` is {size}; set it to the size of the struct")));
    }
    let rest = size.min(size_of::<Value>()) - size_of::<usize>();
    // SAFETY: both structs have `rest` bytes after their first field.
    unsafe {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), out.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(size_of::<usize>()), to.add(size_of::<usize>()), rest);
    }
    Ok(())
}
