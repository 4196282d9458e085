//! AMD GPUs through the HIP runtime library, which is opened at run time.
//!
//! The library's functions are declared by hand (HIP API reference, "Modules", "Memory management", "Event
//! management"), since no binding crate builds without the development kit.
//!
//! Devices need the feature `drivers`; without it the plugin compiles kernels, but launches none.
//!
//! This module may import the crate root, but not `compile`: devices load artifacts from any source.

#[cfg(feature = "drivers")]
mod functions;
#[cfg(feature = "drivers")]
mod hip;
#[cfg(feature = "drivers")]
mod runtime;

#[cfg(feature = "drivers")]
pub(crate) use runtime::devices;

#[cfg(not(feature = "drivers"))]
use tilewright_plugin::{Device, DeviceError};

/// Returns an error, in place of the devices that a build with drivers lists.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin has no driver support.
#[cfg(not(feature = "drivers"))]
pub(crate) fn devices(_architecture: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no drivers: build it with the feature `drivers`, or load its code objects with \
         the vendor's runtime"
            .to_owned(),
    ))
}
