//! The functions of a plugin's table, and conversions of their results: errors, blobs, texts.

#![allow(unsafe_code)]

use super::abi::{BlobHandle, ErrorHandle, PluginTable, Slice, TargetHandle};
use super::bytes::{lossy_text, read_slice};
use super::failure::{ErrorCode, SerializedError};
use super::functions::functions;

/// Max number of architectures read from a plugin, and of messages read from an error.
pub(super) const MOST_ITEMS: u32 = 4096;

functions! { Functions of PluginTable:
    name: unsafe extern "C" fn() -> Slice,
    version: unsafe extern "C" fn() -> Slice,
    architecture: unsafe extern "C" fn(u32) -> Slice,
    target_create: unsafe extern "C" fn(Slice, *mut *mut TargetHandle) -> *mut ErrorHandle,
    target_destroy: unsafe extern "C" fn(*mut TargetHandle),
    target_info: unsafe extern "C" fn(*const TargetHandle, *mut *mut BlobHandle) -> *mut ErrorHandle,
    resolve_family: unsafe extern "C" fn(*const TargetHandle, Slice, *mut *mut BlobHandle) -> *mut ErrorHandle,
    compile: unsafe extern "C" fn(*const TargetHandle, Slice, Slice, *mut *mut BlobHandle) -> *mut ErrorHandle,
    blob_bytes: unsafe extern "C" fn(*const BlobHandle) -> Slice,
    blob_destroy: unsafe extern "C" fn(*mut BlobHandle),
    error_code: unsafe extern "C" fn(*const ErrorHandle) -> u32,
    error_message: unsafe extern "C" fn(*const ErrorHandle, u32) -> Slice,
    error_destroy: unsafe extern "C" fn(*mut ErrorHandle),
}

impl Functions {
    /// Calls a function of this table or of an optional table, which returns a blob; returns the bytes of the blob and
    /// destroys it.
    pub(super) fn blob(
        &self,
        function: impl FnOnce(*mut *mut BlobHandle) -> *mut ErrorHandle,
    ) -> Result<Vec<u8>, SerializedError> {
        let mut blob = std::ptr::null_mut();
        self.outcome(function(&raw mut blob))?;
        if blob.is_null() {
            return Err(SerializedError::internal("it gave neither an answer nor an error"));
        }
        // SAFETY: a live blob of this table; its bytes are copied before it is destroyed.
        let bytes = unsafe { read_slice((self.blob_bytes)(blob)) }.map(<[u8]>::to_vec);
        // SAFETY: destroyed once.
        unsafe { (self.blob_destroy)(blob) };
        bytes.map_err(|failure| SerializedError::internal(format!("it gave an answer that cannot be read: {failure}")))
    }

    /// Copies the contents of an error that a function returned and frees it; null means success.
    pub(super) fn outcome(&self, error: *mut ErrorHandle) -> Result<(), SerializedError> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: a live error of this table; its messages are copied before it is destroyed, once.
        unsafe {
            let code = ErrorCode((self.error_code)(error));
            let messages = (0..MOST_ITEMS).map(|index| (self.error_message)(error, index));
            let chain = messages.take_while(|slice| slice.length > 0).map(lossy_text).collect();
            (self.error_destroy)(error);
            Err(SerializedError { code, chain })
        }
    }
}

/// Reads a text from a plugin; `what` names the text in the error.
pub(super) fn text(what: &str, slice: Slice) -> Result<String, SerializedError> {
    let bytes =
        read_slice(slice).map_err(|failure| SerializedError::internal(format!("{what} cannot be read: {failure}")))?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| SerializedError::internal(format!("{what} is not UTF-8: {error}")))?;
    Ok(text.to_owned())
}
