//! Reads (pointer, length) pairs that the other side of the boundary wrote.

use super::abi::Slice;
use super::failure::{ErrorCode, SerializedError};
use super::wire::MAX_MESSAGE_BYTES;

/// Returns the bytes of a slice that the other side wrote, after checks of its pointer and length.
///
/// The caller must keep the slice's memory alive for the lifetime `'a`. A wrong length that looks valid cannot be
/// detected here; only a host that runs the plugin in another process survives it.
pub(super) fn read_slice<'a>(slice: Slice) -> Result<&'a [u8], SerializedError> {
    if slice.length == 0 {
        return Ok(&[]);
    }
    if slice.data.is_null() {
        let message = format!("{} bytes at a null pointer", slice.length);
        return Err(SerializedError::new(ErrorCode::MALFORMED, [message]));
    }
    if slice.length > MAX_MESSAGE_BYTES {
        let message = format!("{} bytes, where at most {MAX_MESSAGE_BYTES} may cross", slice.length);
        return Err(SerializedError::new(ErrorCode::MALFORMED, [message]));
    }
    // SAFETY: the contract guarantees that `data` is valid for `length` bytes; the checks above reject all detectable
    // violations.
    #[allow(unsafe_code)]
    Ok(unsafe { std::slice::from_raw_parts(slice.data, slice.length) })
}

/// Returns text from the other side, or a note that the text cannot be read.
pub(super) fn lossy_text(slice: Slice) -> String {
    match read_slice(slice) {
        Ok(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Err(failure) => format!("(a message that cannot be read: {failure})"),
    }
}
