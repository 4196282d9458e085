//! Errors of the driver, with the call that gave them.

use cudarc::driver::DriverError;
use tilewright_plugin::DeviceError;

/// Converts the error of a driver call into a device error that names the call.
pub(super) fn failed(call: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |error| {
        let name = error.error_name().map_or("an unknown code".into(), |name| name.to_string_lossy());
        DeviceError::Driver(format!("{call} gave {name} ({})", error.0 as u32))
    }
}
