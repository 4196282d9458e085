//! Handles to bytes that the caller frees.

use std::ffi::c_char;

/// Bytes or text that a call returned.
pub struct tw_blob {
    /// The bytes, followed by a zero byte.
    bytes: Vec<u8>,
}

impl tw_blob {
    pub(crate) fn of(bytes: impl Into<Vec<u8>>) -> Self {
        let mut bytes = bytes.into();
        bytes.push(0);
        Self { bytes }
    }
}

/// Returns the bytes of a blob, followed by a zero byte so that text can be read as a C string. Null for null.
/// Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_data(blob: *const tw_blob) -> *const c_char {
    // SAFETY: the caller promises that `blob` is null or a handle that was not destroyed.
    unsafe { blob.as_ref() }.map_or(std::ptr::null(), |blob| blob.bytes.as_ptr().cast())
}

/// Returns the number of bytes of a blob, without the zero byte after them. Zero for null. Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_size(blob: *const tw_blob) -> usize {
    // SAFETY: the caller promises that `blob` is null or a handle that was not destroyed.
    unsafe { blob.as_ref() }.map_or(0, |blob| blob.bytes.len() - 1)
}

/// Frees a blob and its bytes. Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_destroy(blob: *mut tw_blob) {
    // SAFETY: the caller promises that `blob` is null or a handle that nothing else uses.
    unsafe { crate::handle::destroy(blob) }
}
