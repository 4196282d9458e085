//! Objects of an OpenCL driver that are released when dropped.

#![allow(unsafe_code)]

use std::ffi::c_void;

use cl3::error_codes::error_text;
use tilewright_plugin::DeviceError;

/// A function of the driver that releases an object, such as `clReleaseKernel`.
type Release = unsafe fn(*mut c_void) -> Result<(), i32>;

/// One object of a driver, which is released when dropped.
#[derive(Debug)]
pub(super) struct Handle {
    raw: *mut c_void,
    release: Release,
}

// SAFETY: OpenCL 3.0, section 2.1 and appendix A.2: calls may come from any thread, except that several threads may not
// set arguments of one kernel at once; a handle is used by one thread at a time.
unsafe impl Send for Handle {}

impl Handle {
    /// Takes ownership of an object; `release` is called when the result is dropped.
    ///
    /// # Safety
    /// The object must be alive and released by nobody else, and `release` must be for objects of its kind.
    pub(super) unsafe fn own(raw: *mut c_void, release: Release) -> Self {
        Self { raw, release }
    }

    pub(super) fn get(&self) -> *mut c_void {
        self.raw
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the contract of `own`. A failure has no caller to report to.
        let _ = unsafe { (self.release)(self.raw) };
    }
}

/// Returns a function that converts a driver's error code to an error with the name of the failed call.
pub(super) fn failed(call: &'static str) -> impl Fn(i32) -> DeviceError {
    move |code| DeviceError::Driver(format!("{call} gave {} ({code})", error_text(code)))
}
