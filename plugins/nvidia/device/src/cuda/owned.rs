//! Driver objects that are released when dropped.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{result, sys};
use tilewright_plugin::DeviceError;

use super::driver_error::failed;

/// The primary context of a device, which all parts of a process share.
pub(super) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
}

// SAFETY: CUDA driver API, "Context management": a context may be current in any thread, and in several.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn of(device: sys::CUdevice) -> Result<Self, DeviceError> {
        // SAFETY: the driver has returned this device; `drop` releases the context once.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        Ok(Self { device, context })
    }

    /// Makes the context the current one of the calling thread.
    pub(super) fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is alive.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed("cuCtxSetCurrent"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once, and all its objects are released. `drop` cannot return an error.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// An allocation of global memory on the device, freed when dropped.
pub(super) struct Memory(pub(super) sys::CUdeviceptr, Arc<Context>);

impl Memory {
    pub(super) fn of(bytes: usize, context: &Arc<Context>) -> Result<Self, DeviceError> {
        // SAFETY: the context is current in this thread; `drop` frees the memory once.
        match unsafe { result::malloc_sync(bytes) } {
            Ok(address) => Ok(Self(address, Arc::clone(context))),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(DeviceError::OutOfMemory(bytes as u64))
            }
            Err(error) => Err(failed("cuMemAlloc")(error)),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated once, in this context. `drop` cannot return an error.
        let _ = self.1.enter().map(|()| unsafe { result::free_sync(self.0) });
    }
}

/// Code that the driver has loaded, unloaded when dropped.
pub(super) struct Module(pub(super) sys::CUmodule, Arc<Context>);

// SAFETY: CUDA driver API: modules belong to their context, not to a thread.
unsafe impl Send for Module {}

impl Module {
    /// # Safety
    /// `image` is a whole cubin, or PTX that ends with a zero.
    pub(super) unsafe fn load(image: &[u8], context: &Arc<Context>) -> Result<Self, DeviceError> {
        // SAFETY: as the caller guarantees; the context is current in this thread.
        match unsafe { result::module::load_data(image.as_ptr().cast()) } {
            Ok(module) => Ok(Self(module, Arc::clone(context))),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
                Err(DeviceError::BadLaunch("the code is for another GPU".to_owned()))
            }
            Err(error) => Err(failed("cuModuleLoadData")(error)),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded once, in this context. `drop` cannot return an error.
        let _ = self.1.enter().map(|()| unsafe { result::module::unload(self.0) });
    }
}

/// A CUDA event: a point in a stream. The time between two events is the time of a launch.
pub(super) struct Event(pub(super) sys::CUevent);

impl Event {
    pub(super) fn new() -> Result<Self, DeviceError> {
        result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map(Self).map_err(failed("cuEventCreate"))
    }

    /// Records the event in the default stream; it completes after all work that is in the stream already.
    pub(super) fn record(&self) -> Result<(), DeviceError> {
        // SAFETY: the event is alive; the default stream always exists.
        unsafe { result::event::record(self.0, result::stream::null()) }.map_err(failed("cuEventRecord"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once. `drop` cannot return an error.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}
