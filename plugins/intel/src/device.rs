//! Devices of this vendor.

use tilewright::vendor::{Device, DeviceError};

/// The devices of this machine.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin opens no driver.
pub fn devices() -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no driver for its devices; compile to SPIR-V and load that with the vendor's runtime"
            .to_owned(),
    ))
}
