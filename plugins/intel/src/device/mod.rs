//! Devices of this vendor: OpenCL, opened at run time.
//!
//! Two kinds of device run what this plugin writes: the vendor's GPUs, found by the product's name, and
//! the vendor's OpenCL runtime for processors, which stands for any product. That one computes everything
//! but the products of matrices and loads of blocks, whose builtins it lacks; they are linked to it from `matrix_mad.cl` and `block_read.cl`. A device says
//! by its name which it is.
//!
//! Calls go through `cl3`, whose objects are numbers without an owner (`opencl3`, above it, ends the process where an
//! object cannot be released, and links programs in no context); `handle` owns them.
//!
//! Only with the feature `drivers`; without it a plugin compiles, and launches nothing.
//!
//! May import the crate's root, and nothing of `compile`: what a device is handed comes from outside.

#[cfg(feature = "drivers")]
mod handle;
#[cfg(feature = "drivers")]
mod opencl;
#[cfg(feature = "drivers")]
mod program;
#[cfg(feature = "drivers")]
mod runtime;

#[cfg(feature = "drivers")]
pub(crate) use runtime::devices;

#[cfg(not(feature = "drivers"))]
use tilewright::vendor::{Device, DeviceError};

/// No devices.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
pub(crate) fn devices(_product: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no drivers: build it with the feature `drivers`, or load its SPIR-V with the \
         vendor's runtime"
            .to_owned(),
    ))
}
