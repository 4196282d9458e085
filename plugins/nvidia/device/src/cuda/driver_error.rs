//! Errors of the CUDA driver, with the call that failed.

use cudarc::driver::DriverError;
use tilewright_plugin::DeviceError;

/// Returns a conversion of a driver's error into a device error that names the failed call.
pub(super) fn failed(call: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |error| {
        let name = error.error_name().map_or("an unknown code".into(), |name| name.to_string_lossy());
        DeviceError::Driver(format!("{call} gave {name} ({})", error.0 as u32))
    }
}
