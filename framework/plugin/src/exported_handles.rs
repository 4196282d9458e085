//! Values that a plugin gives to its host as opaque handles, and errors and panics of a call as error handles.

#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::abi::{ErrorHandle, TargetHandle};
use super::failure::{ErrorCode, SerializedError};
use crate::Target;

/// The target that a [`TargetHandle`] points to.
pub(super) struct Served(pub Box<dyn Target>);

/// Runs `work` and writes its result to `out` as a handle, or returns its error or panic as a handle.
///
/// # Safety
/// `out` must be valid for a write.
pub(super) unsafe fn return_handle<Work, Handle, Value>(out: *mut *mut Handle, work: Work) -> *mut ErrorHandle
where
    Work: FnOnce() -> Result<Value, SerializedError>,
{
    // SAFETY: the caller's contract. The handle is only ever cast back to a `Value`.
    unsafe { return_value(out, || work().map(|value| Box::into_raw(Box::new(value)).cast())) }
}

/// Runs `work` and writes its result to `out` by value, or returns its error or panic as a handle.
///
/// # Safety
/// `out` must be valid for a write.
pub(super) unsafe fn return_value<Value>(
    out: *mut Value,
    work: impl FnOnce() -> Result<Value, SerializedError>,
) -> *mut ErrorHandle {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let failure = SerializedError::panicked(&*payload);
        // Dropping a payload may panic again.
        std::mem::forget(payload);
        Err(failure)
    });
    match outcome {
        Ok(value) => {
            // SAFETY: the caller's contract.
            unsafe { out.write(value) };
            std::ptr::null_mut()
        }
        Err(failure) => Box::into_raw(Box::new(failure)).cast(),
    }
}

/// Drops the value behind a handle that [`return_handle`] returned.
///
/// # Safety
/// `handle` must be null or come from [`return_handle`] with the same `Value`, and is dropped once.
pub(super) unsafe fn drop_handle<Value>(handle: *mut Value) {
    let drop_it = AssertUnwindSafe(|| {
        if !handle.is_null() {
            // SAFETY: the caller's contract.
            drop(unsafe { Box::from_raw(handle) });
        }
    });
    if let Err(payload) = catch_unwind(drop_it) {
        std::mem::forget(payload);
    }
}

/// Returns the target that a handle points to.
///
/// # Safety
/// `target` must be null or a live handle of this table.
pub(super) unsafe fn target_of_handle<'a>(target: *const TargetHandle) -> Result<&'a dyn Target, SerializedError> {
    // SAFETY: the caller's contract; handles are created by `target_create` from a `Served`.
    let served = unsafe { target.cast::<Served>().as_ref() };
    served
        .map(|served| &*served.0)
        .ok_or_else(|| SerializedError::new(ErrorCode::MALFORMED, ["the target handle is null"]))
}
