//! Reads (pointer, length) pairs that the other side wrote.

use super::abi::Slice;
use super::failure::{ErrorCode, PluginFailure};
use super::wire::MAX_BYTES;

/// The bytes of a slice from the other side, as far as its length can be believed.
///
/// The caller uses them no longer than the interface's contract for this slice says. A length
/// that is possible but wrong cannot be noticed here; only isolation survives it.
pub(super) fn read_slice<'a>(slice: Slice) -> Result<&'a [u8], PluginFailure> {
    if slice.length == 0 {
        return Ok(&[]);
    }
    if slice.data.is_null() {
        let message = format!("{} bytes at a null pointer", slice.length);
        return Err(PluginFailure::new(ErrorCode::MALFORMED, [message]));
    }
    if slice.length > MAX_BYTES {
        let message = format!("{} bytes, where at most {MAX_BYTES} may cross", slice.length);
        return Err(PluginFailure::new(ErrorCode::MALFORMED, [message]));
    }
    // SAFETY: the contract says that `data` is valid for `length` bytes; what is checkable is
    // checked above.
    #[allow(unsafe_code)]
    Ok(unsafe { std::slice::from_raw_parts(slice.data, slice.length) })
}
