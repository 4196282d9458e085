//! Bytes that the caller frees.

use std::ffi::c_char;

/// Bytes, or a text.
pub struct tw_blob {
    /// With a zero byte behind them.
    bytes: Vec<u8>,
}

impl tw_blob {
    pub(crate) fn of(bytes: impl Into<Vec<u8>>) -> Self {
        let mut bytes = bytes.into();
        bytes.push(0);
        Self { bytes }
    }
}

/// The bytes; behind the last there is a zero byte, so that a text can be read as one. Null for null. Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_data(blob: *const tw_blob) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { blob.as_ref() }.map_or(std::ptr::null(), |blob| blob.bytes.as_ptr().cast())
}

/// How many bytes there are, without the zero byte behind them. Zero for null. Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_size(blob: *const tw_blob) -> usize {
    // SAFETY: as the caller promises.
    unsafe { blob.as_ref() }.map_or(0, |blob| blob.bytes.len() - 1)
}

/// Frees the bytes. Available since 1.0.
///
/// # Safety
/// `blob` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_blob_destroy(blob: *mut tw_blob) {
    // SAFETY: as the caller promises.
    unsafe { crate::handle::destroy(blob) }
}
