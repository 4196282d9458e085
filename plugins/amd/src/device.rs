//! AMD devices of this machine.

use tilewright::vendor::{Device, DeviceError};

/// The devices that this build can drive.
pub(crate) fn devices() -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the AMD plugin has no driver: it compiles, it does not launch".to_owned(),
    ))
}
