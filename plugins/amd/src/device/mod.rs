//! Devices of this vendor: HIP, opened at run time.
//!
//! The library's functions are declared by hand (HIP API reference, "Modules", "Memory management", "Event management"):
//! no crate of them builds where its development kit is not installed.
//!
//! Only with the feature `drivers`; without it a plugin compiles, and launches nothing.
//!
//! May import the crate's root, and nothing of `compile`: what a device is handed comes from outside.

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

/// No devices.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
pub(crate) fn devices(_architecture: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no drivers: build it with the feature `drivers`, or load its code objects with \
         the vendor's runtime"
            .to_owned(),
    ))
}
